import * as fc from "fast-check";
import { hasIdentifierNames } from "../../src/paths/patterns.ts";
import type { Reference } from "../../src/paths/parse-path.ts";
import { isName } from "../../src/paths/parse-path.ts";

// Arbitrary references, and their spellings, for the property tests of the grammar.

const name = fc
  .stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/)
  .filter((text) => isName(text))
  .map((value): Reference => ({ by: "name", value }));

const identifier = fc.stringMatching(/^[a-z][a-z0-9_]{0,62}$/).map((value): Reference => ({ by: "name", value }));

const id = fc.uuid().map((value): Reference => ({ by: "id", value }));

export const reference: fc.Arbitrary<Reference> = fc.oneof(name, id, fc.constant<Reference>({ by: "any" }));

/** References that a path can have in a collection. */
export function referenceIn(collection: string): fc.Arbitrary<Reference> {
  return hasIdentifierNames(collection) ? fc.oneof(identifier, id, fc.constant<Reference>({ by: "any" })) : reference;
}

/** Returns the text of a reference before percent-encoding. */
export function spell(written: Reference): string {
  if (written.by === "any") return "-";
  return written.by === "id" ? `@${written.value}` : written.value;
}

/** Percent-encodes some characters of the text, with upper-case or lower-case digits. */
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
