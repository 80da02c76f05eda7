// Which fields of a resource a plan changes, from what to what.
import { type DescMessage, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";

/** A field that a plan changes. Its values are JSON, shortened; empty for a field that is not set. */
export interface ChangedField {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

const written = { useProtoFieldName: true } as const;

/** Compares two resources as files have them, which is without secrets. */
export function findChangedFields(schema: DescMessage, before: Message, after: Message): readonly ChangedField[] {
  const [from, to] = [before, after].map((message) => toJson(schema, message, written) as JsonObject);
  return schema.fields.flatMap(({ name }) => {
    const [one, other] = [from?.[name], to?.[name]].map((value) => (value === undefined ? "" : JSON.stringify(value)));
    if (one === other || one === undefined || other === undefined) return [];
    const [shownBefore, shownAfter] = shortenBoth(one, other);
    return [{ field: name, before: shownBefore, after: shownAfter }];
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
