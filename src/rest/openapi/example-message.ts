import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { resource_reference } from "../../../gen/google/api/resource_pb.ts";
import { isWrapper } from "../binding/describe-type.ts";
import { fieldsOfBatch, holdsRequests } from "./batch-requests.ts";
import { exampleIn } from "./example-in.ts";
import { isImmutable, isInputOnly, isOutputOnly, isRequired } from "./field-behavior.ts";
import type { CommentReader } from "./read-comments.ts";
import { parseExample } from "./schemas/parse-example.ts";

/** The purpose of an example: a response, a message to create, or the fields that a PATCH changes. */
export type ExamplePurpose = "answer" | "create" | { readonly update: readonly string[] | undefined };

/**
 * Composes an example message from the examples in comments or, if there are none, from types. Optional strings without an
 * example are omitted, because invented text may violate a rule or mislead.
 */
export function exampleMessage(desc: DescMessage, purpose: ExamplePurpose, commentOf: CommentReader): JsonObject {
  return exampleOf(desc, purpose, commentOf, []);
}

function exampleOf(
  desc: DescMessage,
  purpose: ExamplePurpose,
  commentOf: CommentReader,
  holders: readonly DescMessage[],
): JsonObject {
  const example: JsonObject = {};
  for (const field of desc.fields) {
    if (!isShown(field, purpose, commentOf(field))) continue;
    if (field.oneof !== undefined && field.oneof.fields[0] !== field) continue;
    const value = exampleField(field, purpose, commentOf, [...holders, desc]);
    if (value !== undefined) example[field.name] = value;
  }
  return example;
}

/** In the comment of a field that a typical answer does not have: "unset while it is not deleted", "set only in responses". */
const isRare = /\bunset (when|while|until|unless|if|in)\b|\bset only in\b/i;

function isShown(field: DescField, purpose: ExamplePurpose, comment: string): boolean {
  if (purpose === "answer") return !isInputOnly(field) && !isRare.test(comment);
  // An etag is a precondition, which must not be copied by accident.
  if (isOutputOnly(field) || field.name === "etag") return false;
  if (typeof purpose === "object" && purpose.update !== undefined) return purpose.update.includes(field.name);
  if (typeof purpose === "object") return !isImmutable(field) && exampleIn(comment) !== undefined;
  // The resource that an optional reference in the example names may not exist.
  const refers = getOption(field, resource_reference).type !== "";
  return isRequired(field) || (!refers && exampleIn(comment) !== undefined);
}

function exampleField(
  field: DescField,
  purpose: ExamplePurpose,
  commentOf: CommentReader,
  holders: readonly DescMessage[],
): JsonValue | undefined {
  const given = parseExample(field, exampleIn(commentOf(field)));
  if (given !== undefined) return given;
  const element = exampleElement(field, purpose, commentOf, holders);
  if (element === undefined) return undefined;
  if (field.fieldKind === "list") return [element];
  if (field.fieldKind !== "map") return element;
  // Keys are often names of something, which cannot be invented.
  return field.mapKey === ScalarType.STRING
    ? undefined
    : { [field.mapKey === ScalarType.BOOL ? "true" : "1"]: element };
}

function exampleElement(
  field: DescField,
  purpose: ExamplePurpose,
  commentOf: CommentReader,
  holders: readonly DescMessage[],
): JsonValue | undefined {
  const { message } = field;
  if (field.enum !== undefined) return (field.enum.values[1] ?? field.enum.values[0])?.name;
  if (field.scalar === ScalarType.STRING) return isRequired(field) ? field.name : undefined;
  if (message === undefined) return field.scalar === undefined ? undefined : exampleScalar(field.scalar);
  if (isWrapper(message)) return exampleScalar(message.field["value"]?.scalar ?? ScalarType.STRING);
  if (message.typeName.startsWith("google.protobuf.")) return wellKnown[message.typeName];
  if (holders.includes(message)) return undefined;
  const example = exampleOf(message, purpose, commentOf, holders);
  if (holdsRequests(field)) for (const name of fieldsOfBatch) delete example[name];
  return example;
}

const wellKnown: Readonly<Record<string, JsonValue>> = {
  "google.protobuf.Timestamp": "2026-01-31T12:00:00Z",
  "google.protobuf.Duration": "3.5s",
  "google.protobuf.Struct": { key: "value" },
  "google.protobuf.Value": "value",
  "google.protobuf.ListValue": ["value"],
  "google.protobuf.Any": { "@type": "type.googleapis.com/google.protobuf.Duration", value: "3.5s" },
};

function exampleScalar(type: ScalarType): JsonValue {
  switch (type) {
    case ScalarType.STRING:
      return "text";
    case ScalarType.BYTES:
      return "aGVsbG8=";
    case ScalarType.BOOL:
      return false;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return "1";
    default:
      return 1;
  }
}
