import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapper } from "../../binding/describe-type.ts";
import type { Schema } from "../openapi-document.ts";

// Schemas of the JSON form of protobuf types: https://protobuf.dev/programming-guides/json/.

const int32: Schema = { type: "integer", format: "int32" };
const uint32: Schema = { type: "integer", format: "uint32", minimum: 0, maximum: 4_294_967_295 };
const int64: Schema = { type: "string", format: "int64", pattern: "^-?[0-9]+$" };
const uint64: Schema = { type: "string", format: "uint64", pattern: "^[0-9]+$" };
const double: Schema = { type: "number", format: "double" };
const float: Schema = { type: "number", format: "float" };
const finite: Readonly<Partial<Record<ScalarType, Schema>>> = {
  [ScalarType.DOUBLE]: double,
  [ScalarType.FLOAT]: float,
};
/** The floating-point values that are not numbers in JSON. */
const noNumber: Schema = { type: "string", enum: ["NaN", "Infinity", "-Infinity"] };

const scalars: Readonly<Record<ScalarType, Schema>> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.BYTES]: { type: "string", format: "byte", contentEncoding: "base64" },
  [ScalarType.DOUBLE]: { anyOf: [double, noNumber] },
  [ScalarType.FLOAT]: { anyOf: [float, noNumber] },
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};

/** @param isFinite whether a floating-point value is always a number, neither NaN nor infinite. */
export function scalarSchema(type: ScalarType, isFinite: boolean): Schema {
  return (isFinite ? finite[type] : undefined) ?? scalars[type];
}

const wellKnown: Readonly<Record<string, Schema>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: String.raw`^-?[0-9]{1,11}(\.[0-9]{1,9})?s$` },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.Value": {},
  "google.protobuf.ListValue": { type: "array", items: {} },
  "google.protobuf.Empty": { type: "object" },
  "google.protobuf.Any": {
    type: "object",
    properties: { "@type": { type: "string", description: "The URL of the message's type." } },
    required: ["@type"],
    additionalProperties: true,
  },
};

/** Returns the schema of a well-known type or wrapper; undefined for other messages. */
export function wellKnownSchema(desc: DescMessage, isFinite: boolean): Schema | undefined {
  const own = wellKnown[desc.typeName];
  if (own !== undefined) return own;
  const wrapped = isWrapper(desc) ? desc.field["value"]?.scalar : undefined;
  return wrapped === undefined ? undefined : scalarSchema(wrapped, isFinite);
}

export function nullable(schema: Schema): Schema {
  const { description, ...rest } = schema;
  const isPlain = typeof schema.type === "string" && !("enum" in schema) && !("const" in schema);
  const type = schema.type === undefined ? [] : [schema.type].flat();
  if (type.includes("null") || Object.keys(rest).length === 0) return schema;
  if (isPlain) return { ...schema, type: [...type, "null"] };
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: "null" }] };
}
