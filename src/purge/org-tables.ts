// What goes with an org that is removed: in batches, and not by cascades, which the database has none of.
import type { Schema } from "../database/schema.ts";
import type { ResourceRegistry } from "../resource/registry.ts";

/** A table with rows of an org. */
export type OrgTable = keyof Schema;

/** Tables with rows of orgs that hold no resources: what members have kept, what is derived from resources, and the log. */
const beforeResources = ["write_requests"] as const satisfies readonly OrgTable[];
const afterResources = ["resource_labels", "resource_counts", "changes"] as const satisfies readonly OrgTable[];

/** Every table with rows of an org, each before those that it refers to. */
export function orgTablesOf({ inOrgs }: ResourceRegistry): readonly OrgTable[] {
  // Several resources may share a table.
  const resources = new Set<OrgTable>(inOrgs.map(({ storage }) => storage.table));
  return [...beforeResources, ...resources, ...afterResources];
}

/** A table with rows that belong to something, and the column that says to what. */
export interface OwnedRows {
  readonly table: "write_requests";
  readonly column: string;
}

/** What goes with a member and is no resource. */
export const rowsOfMembers: readonly OwnedRows[] = [{ table: "write_requests", column: "actor_id" }];
