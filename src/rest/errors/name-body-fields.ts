import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { type BadRequest, BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/**
 * Names the fields in an error as the client has sent them: a body that is one field of the request message has the fields of that
 * field. So `member.name` is `name`, in the details and in the message, which repeats them.
 *
 * @param body the field that is the body; `*` or empty for none.
 */
export function nameBodyFields(error: ConnectError, body: string): ConnectError {
  if (body === "" || body === "*") return error;
  const prefix = `${body}.`;
  let message = error.rawMessage;
  let isChanged = false;
  const rename = (field: string): string => {
    if (!field.startsWith(prefix)) return field;
    isChanged = true;
    const name = field.slice(prefix.length);
    message = message.replace(`${field}: `, `${name}: `);
    return name;
  };
  const details = error.details.map((detail) => {
    if (!("desc" in detail) || detail.desc.typeName !== BadRequestSchema.typeName) return detail;
    const { fieldViolations } = create(BadRequestSchema, detail.value as BadRequest);
    const renamed = fieldViolations.map((each) => ({ ...each, field: rename(each.field) }));
    return { desc: BadRequestSchema, value: { fieldViolations: renamed } };
  });
  if (!isChanged) return error;
  const named = new ConnectError(message, error.code, error.metadata, undefined, error.cause);
  named.details = details;
  return named;
}
