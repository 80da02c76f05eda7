import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { nameBodyFields } from "../../../src/rest/errors/name-body-fields.ts";

function failure(...fields: string[]): ConnectError {
  const message = fields.map((field) => `${field}: must be set`).join("; ");
  const error = new ConnectError(message, Code.InvalidArgument, { "x-kept": "yes" });
  const fieldViolations = fields.map((field) => ({ field, description: "must be set", reason: "REQUIRED" }));
  error.details = [
    { desc: ErrorInfoSchema, value: { reason: "FIELD_INVALID" } },
    { desc: BadRequestSchema, value: { fieldViolations } },
  ];
  return error;
}

const partsOf = (error: ConnectError) => ({
  message: error.rawMessage,
  fields: error.findDetails(BadRequestSchema)[0]?.fieldViolations.map(({ field }) => field),
  reasons: error.findDetails(ErrorInfoSchema).map(({ reason }) => reason),
  header: error.metadata.get("x-kept"),
});

test("fields of the body are named as they were sent, in the message, too", () => {
  const named = nameBodyFields(
    failure("member.name", 'member.labels["a"]', "page_size", "member", "members.x"),
    "member",
  );
  expect(partsOf(named)).toEqual({
    message:
      'name: must be set; labels["a"]: must be set; page_size: must be set; member: must be set; members.x: must be set',
    fields: ["name", 'labels["a"]', "page_size", "member", "members.x"],
    reasons: ["FIELD_INVALID"],
    header: "yes",
  });
});

test.each(["", "*", "group"])("with the body %j, an error stays as it is", (body) => {
  const error = failure("member.name");
  expect(nameBodyFields(error, body)).toBe(error);
});
