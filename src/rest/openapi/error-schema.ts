import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import type { Schema } from "./openapi-document.ts";
import type { Schemas } from "./schemas/create-schemas.ts";

/**
 * Returns the components that describe the body of an error (AIP-193): `Error`, and what it consists of. Everything has a name,
 * because generators call a schema without one by its place: `ErrorErrorDetailsInner`.
 *
 * @param details the message types that may appear as details; if empty, any object is allowed.
 * @param reasons the values that the `reason` of ErrorInfo can have; undefined if any.
 */
export function errorComponents(
  details: readonly DescMessage[],
  reasons: DescEnum | undefined,
  schemas: Schemas,
): Readonly<Record<string, Schema>> {
  const reason = reasons && schemas.ofEnum(reasons);
  const known = details.map((desc) => {
    const schema = describeDetail(desc, desc.typeName === "google.rpc.ErrorInfo" ? reason : undefined, schemas);
    return { name: `${desc.name}Detail`, url: typeUrl(desc), schema };
  });
  return {
    ...Object.fromEntries(known.map(({ name, schema }) => [name, schema])),
    ErrorDetail: known.length === 0 ? anyDetail : oneOf(known),
    ErrorBody: {
      type: "object",
      description: "Why a call failed.",
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
          items: { $ref: referenceTo("ErrorDetail") },
        },
      },
      required: ["code", "status", "message", "details"],
    },
    Error: {
      type: "object",
      description: "What every call answers that fails.",
      properties: { error: { $ref: referenceTo("ErrorBody") } },
      required: ["error"],
    },
  };
}

const referenceTo = (name: string): string => `#/components/schemas/${name}`;

const typeUrl = ({ typeName }: DescMessage): string => `type.googleapis.com/${typeName}`;

const anyDetail: Schema = {
  type: "object",
  properties: { "@type": { type: "string" } },
  required: ["@type"],
  additionalProperties: true,
};

/** Returns the schema of a message in a google.protobuf.Any, whose JSON is `@type` and the fields of the message. */
function describeDetail(desc: DescMessage, reason: Schema | undefined, schemas: Schemas): Schema {
  const fields = desc.fields.map((field) => [field.name, schemas.ofField(field, "whole")] as const);
  return {
    type: "object",
    description: `The detail \`${desc.typeName}\` of an error.`,
    properties: {
      "@type": { type: "string", const: typeUrl(desc) },
      ...Object.fromEntries(fields),
      ...(reason && { reason }),
    },
    required: ["@type"],
  };
}

function oneOf(known: readonly { readonly name: string; readonly url: string }[]): Schema {
  return {
    oneOf: known.map(({ name }) => ({ $ref: referenceTo(name) })),
    discriminator: {
      propertyName: "@type",
      mapping: Object.fromEntries(known.map(({ name, url }) => [url, referenceTo(name)])),
    },
  };
}
