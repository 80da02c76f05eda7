import { create, type DescMessage, type JsonValue, type Message, type Registry } from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import { isNullAValue } from "../json/json-forms.ts";
import { compileMessageDecoder } from "./decode-message.ts";
import { compileSetter } from "./message-access.ts";
import { readJsonBody } from "../json/read-json-body.ts";
import type { ItemLimitOf } from "../limits/item-limit.ts";
import { compileJsonItemCheck } from "../limits/json-item-check.ts";
import { invalidFields, quote, RestError } from "../errors/rest-error.ts";

/** Reads the body of a request according to a rule. */
interface BodyBinding {
  readonly taken: boolean;
  /** Whether the body is the bytes of a google.api.HttpBody rather than JSON. */
  readonly isBytes: boolean;
  /**
   * Returns the request message with the fields of the body and, if the body is JSON, the equivalent JSON of the whole
   * request message.
   *
   * @throws RestError BODY_MALFORMED, CONTENT_TYPE_UNSUPPORTED or FIELD_INVALID
   */
  read(bytes: Buffer | undefined, contentType: string | undefined): { message: Message; json?: JsonValue };
}

interface BodyOptions {
  readonly ignoreUnknownFields: boolean;
  readonly maxDepth: number;
  readonly registry?: Registry | undefined;
  readonly itemLimitOf?: ItemLimitOf | undefined;
}

/**
 * @param body the `body` of the rule: `*` for the whole request, the proto name of a field, or empty for no body.
 * @param where the name of the rule, for errors.
 * @throws Error if the field does not exist.
 */
export function compileBodyBinding(input: DescMessage, body: string, where: string, options: BodyOptions): BodyBinding {
  if (body === "") return { taken: false, isBytes: false, read: () => ({ message: create(input) }) };
  const field = body === "*" ? undefined : input.fields.find((candidate) => candidate.name === body);
  if (field === undefined && body !== "*") {
    throw new Error(`${where}: body names ${body}, which is not a field of ${input.typeName}`);
  }
  const target = field === undefined ? input : field.message;
  if (target?.typeName === HttpBodySchema.typeName && field?.fieldKind !== "list" && field?.fieldKind !== "map") {
    const set = field && compileSetter(field);
    return {
      taken: true,
      isBytes: true,
      read(bytes, contentType) {
        const raw = create(HttpBodySchema, { contentType: contentType ?? "", data: new Uint8Array(bytes ?? []) });
        const message = set === undefined ? raw : create(input);
        set?.(message, raw);
        return { message };
      },
    };
  }
  const decode = compileMessageDecoder(input, options.ignoreUnknownFields, field?.name, options.registry);
  const { itemLimitOf, maxDepth } = options;
  const checkItems = itemLimitOf && compileJsonItemCheck(input, field, itemLimitOf, maxDepth);
  return {
    taken: true,
    isBytes: false,
    read(bytes, contentType) {
      if (bytes === undefined || bytes.length === 0) return { message: create(input) };
      checkContentType(contentType);
      const value = readJsonBody(bytes, maxDepth, checkItems);
      if (field !== undefined && value === null && !isNullAValue(field)) {
        throw invalidFields([{ field: body, description: "must not be null" }]);
      }
      const json: JsonValue = field === undefined ? value : { [field.jsonName]: value };
      return { message: decode(json), json };
    },
  };
}

/** Checks the content type of a JSON body. A body without one is read as JSON. */
function checkContentType(contentType: string | undefined): void {
  if (contentType === undefined || contentType === "application/json") return;
  const [type = "", ...parameters] = contentType.toLowerCase().split(";");
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (type.trim() === "application/json" && isUtf8) return;
  throw new RestError(
    "CONTENT_TYPE_UNSUPPORTED",
    `the body must be application/json in UTF-8, got content type ${quote(contentType)}`,
    { headers: { accept: "application/json" } },
  );
}
