// What the fields that a plan changes are, and would be.
import { type DescMessage, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";

/** A field that a plan changes. Its values are JSON, shortened; empty for a field that is not set. */
export interface ChangedValue {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

const written = { useProtoFieldName: true } as const;

/** Returns the values of fields of two resources as files have them, which is without secrets. */
export function findChangedValues(
  schema: DescMessage,
  fields: readonly string[],
  before: Message,
  after: Message,
): readonly ChangedValue[] {
  if (fields.length === 0) return [];
  const [from, to] = [before, after].map((message) => toJson(schema, message, written) as JsonObject);
  return fields.map((field) => {
    const [one = "", other = ""] = [from?.[field], to?.[field]].map((value) =>
      value === undefined ? "" : JSON.stringify(value),
    );
    const [shownFrom, shownTo] = shortenBoth(one, other);
    return { field, before: shownFrom, after: shownTo };
  });
}

/** How many UTF-16 code units of a value are shown. */
const maxShown = 120;
/** How many of them are before the first difference. */
const shownBefore = 20;

/** Shortens two texts to where they begin to differ. */
function shortenBoth(one: string, other: string): readonly [string, string] {
  if (Math.max(one.length, other.length) <= maxShown) return [one, other];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const start = Math.max(0, same - shownBefore);
  const cut = (text: string): string => {
    const end = start + maxShown;
    const kept = `${start > 0 && text !== "" ? "…" : ""}${text.slice(start, end)}${text.length > end ? "…" : ""}`;
    // A character may have been cut in two.
    return kept.toWellFormed();
  };
  return [cut(one), cut(other)];
}
