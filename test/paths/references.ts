import * as fc from "fast-check";
import type { Reference } from "../../src/paths/resource-path.ts";
import { isName } from "../../src/paths/resource-path.ts";

// Arbitrary references, paths and spellings of them, for the properties of the grammar.

const name = fc
  .stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/)
  .filter((text) => isName(text))
  .map((value): Reference => ({ by: "name", value }));

const id = fc.uuid().map((value): Reference => ({ by: "id", value }));

export const reference: fc.Arbitrary<Reference> = fc.oneof(name, id, fc.constant<Reference>({ by: "any" }));

/** How a reference is written, before any percent-encoding. */
export function spell(written: Reference): string {
  if (written.by === "any") return "-";
  return written.by === "id" ? `@${written.value}` : written.value;
}

/** The same text with some of its characters percent-encoded, in either case of hexadecimal digits. */
export function encodeSome(text: string): fc.Arbitrary<string> {
  const forms = fc.constantFrom("plain", "upper", "lower");
  return fc
    .array(forms, { minLength: text.length, maxLength: text.length })
    .map((choices) => Array.from(text, (character, index) => encode(character, choices[index] ?? "plain")).join(""));
}

function encode(character: string, form: string): string {
  if (form === "plain") return character;
  const digits = character.charCodeAt(0).toString(16).padStart(2, "0");
  return `%${form === "upper" ? digits.toUpperCase() : digits}`;
}
