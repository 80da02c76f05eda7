import { type RawBuilder, sql } from "kysely";

/** The right side of a comparison with any of these ids, as one value however many there are. */
export function anyOf(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`any(${ids}::uuid[])`;
}
