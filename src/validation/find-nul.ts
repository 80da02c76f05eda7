// PostgreSQL stores no text with NUL. Most texts have constraints of their own that refuse it; this rule is for all.
import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import type { FieldViolation } from "../errors/service-error.ts";
import { isWellKnown, valueOf } from "./value-of.ts";

/** Whether a text can be stored. */
export const hasNoNul = (text: unknown): boolean => !(text as string).includes("\0");

/** Whether the texts in a JSON value, such as a google.protobuf.Struct, can be stored. */
export function hasNoNulInside(json: unknown): boolean {
  if (typeof json === "string") return hasNoNul(json);
  if (typeof json !== "object" || json === null) return true;
  return Object.entries(json).every(([key, value]) => hasNoNul(key) && hasNoNulInside(value));
}

/** Returns a violation for each text with NUL in a message and the messages in it. */
export function findNul(schema: DescMessage, message: Message, prefix = ""): FieldViolation[] {
  return schema.fields.flatMap((field) => findInField(field, valueOf(message, field), `${prefix}${field.name}`));
}

function findInField(field: DescField, value: unknown, path: string): FieldViolation[] {
  if (value === undefined) return [];
  switch (field.fieldKind) {
    case "list":
      return (value as readonly unknown[]).flatMap((item, index) => findInValue(field, item, `${path}[${index}]`));
    case "map":
      return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([key, item]) =>
        hasNoNul(key) ? findInValue(field, item, `${path}[${JSON.stringify(key)}]`) : [violation(path)],
      );
    default:
      return findInValue(field, value, path);
  }
}

function findInValue(field: DescField, value: unknown, path: string): FieldViolation[] {
  if (field.message !== undefined) {
    if (isJson(field.message)) return hasNoNulInside(value) ? [] : [violation(path)];
    // Times, durations and field masks have no texts that are stored.
    return isWellKnown(field.message) ? [] : findNul(field.message, value as Message, `${path}.`);
  }
  return field.scalar === ScalarType.STRING && !hasNoNul(value) ? [violation(path)] : [];
}

const jsonTypes: ReadonlySet<string> = new Set(
  ["Struct", "Value", "ListValue"].map((name) => `google.protobuf.${name}`),
);

/** Whether a message stands for any JSON. A Struct is held as a plain value, the others as trees of messages. */
export const isJson = ({ typeName }: DescMessage): boolean => jsonTypes.has(typeName);

const violation = (field: string): FieldViolation => ({
  field,
  description: "must not contain NUL, the character U+0000",
  rule: "string.nul",
});
