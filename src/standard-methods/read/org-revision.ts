import type { KnownStatement } from "../../database/connection-pool.ts";

/** Returns the statement that reads the revision of an org, to be sent in the snapshot of a page. */
export const orgRevisionStatement = (orgId: string): KnownStatement => ({
  text: "select revision from orgs where id = $1::uuid",
  values: [orgId],
  isKept: true,
});

/** Returns the revision that the statement has read; undefined if there is no such org. */
export function orgRevisionIn(rows: readonly unknown[] = []): string | undefined {
  return (rows as readonly { readonly revision: string }[])[0]?.revision;
}
