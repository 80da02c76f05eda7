// What goes with an org, or with what is in one, by table. In batches, so not by the cascades of foreign keys.
import type { Schema } from "../database/schema.ts";

/** Every table with rows of an org, each before those that it refers to. */
export const orgTables = [
  "role_bindings",
  "roles",
  "api_keys",
  "group_members",
  "write_requests",
  "subgroups",
  "groups",
  "members",
  "projects",
  // Triggers on those above keep these two, so they come after.
  "resource_labels",
  "resource_counts",
  "changes",
] as const satisfies readonly (keyof Schema)[];

/** A table with rows that belong to something, and the column that says to what. */
interface OwnedTable {
  readonly table: (typeof orgTables)[number];
  readonly column: string;
}

/** Every table with rows that go with a member or a project. */
export const ownedTables = {
  members: [
    { table: "role_bindings", column: "member_id" },
    { table: "api_keys", column: "member_id" },
    { table: "group_members", column: "member_id" },
    { table: "write_requests", column: "actor_id" },
  ],
  projects: [{ table: "role_bindings", column: "project_id" }],
} as const satisfies Record<string, readonly OwnedTable[]>;
