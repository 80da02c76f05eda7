import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import type { Schema } from "./openapi-document.ts";
import type { Schemas } from "./schemas/create-schemas.ts";

/**
 * Returns the schema of the body of an error (AIP-193). The details are google.protobuf.Any in JSON: `@type` and the fields
 * of the message.
 *
 * @param details the message types that may appear as details; if empty, any object is allowed.
 * @param reasons the values that the `reason` of ErrorInfo can have; undefined if any.
 */
export function errorSchema(details: readonly DescMessage[], reasons: DescEnum | undefined, schemas: Schemas): Schema {
  const reason = reasons && schemas.ofEnum(reasons);
  const known = details.map((desc) =>
    withType(schemas.ofMessage(desc, "whole"), desc, desc.typeName === "google.rpc.ErrorInfo" ? reason : undefined),
  );
  const any: Schema = {
    type: "object",
    properties: { "@type": { type: "string" } },
    required: ["@type"],
    additionalProperties: true,
  };
  return {
    type: "object",
    description: "What every call answers that fails.",
    properties: {
      error: {
        type: "object",
        properties: {
          code: { type: "integer", description: "The HTTP status.", examples: [404] },
          status: {
            type: "string",
            description: "The name of the `google.rpc.Code`.",
            examples: ["NOT_FOUND"],
          },
          message: { type: "string", description: "What went wrong, for the developer. Its wording may change." },
          details: {
            type: "array",
            description: "More about the failure, for programs; `@type` says what each of them is.",
            items: known.length === 0 ? any : { anyOf: known },
          },
        },
        required: ["code", "status", "message", "details"],
      },
    },
    required: ["error"],
  };
}

function withType(schema: Schema, { typeName }: DescMessage, reason: Schema | undefined): Schema {
  const type: Schema = { type: "string", const: `type.googleapis.com/${typeName}` };
  return {
    allOf: [schema, { type: "object", properties: { "@type": type, ...(reason && { reason }) }, required: ["@type"] }],
  };
}
