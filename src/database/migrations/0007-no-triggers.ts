import { type Kysely, sql } from "kysely";

/** The tables with count triggers, and those with label triggers. */
const counted = [
  { table: "projects", keepsDeleted: true },
  { table: "members", keepsDeleted: true },
  { table: "api_keys", keepsDeleted: false },
  { table: "groups", keepsDeleted: false },
  { table: "group_members", keepsDeleted: false },
  { table: "subgroups", keepsDeleted: false },
  { table: "roles", keepsDeleted: false },
  { table: "role_bindings", keepsDeleted: false },
];
const labelled = ["customers", "orgs", "projects", "members", "groups", "roles", "role_bindings"];

/** Foreign keys with ON DELETE CASCADE. */
const cascades = [
  { table: "api_keys", columns: ["org_id", "member_id"], to: "members" },
  { table: "group_members", columns: ["org_id", "group_id"], to: "groups" },
  { table: "group_members", columns: ["org_id", "member_id"], to: "members" },
  { table: "subgroups", columns: ["org_id", "group_id"], to: "groups" },
  { table: "subgroups", columns: ["org_id", "subgroup_id"], to: "groups" },
  { table: "write_requests", columns: ["org_id", "actor_id"], to: "members" },
  { table: "role_bindings", columns: ["customer_id"], to: "customers" },
  { table: "role_bindings", columns: ["org_id", "project_id"], to: "projects" },
  { table: "role_bindings", columns: ["org_id", "member_id"], to: "members" },
  { table: "role_bindings", columns: ["org_id", "group_id"], to: "groups" },
  { table: "role_bindings", columns: ["org_id", "role_id"], to: "roles" },
  { table: "resource_counts", columns: ["org_id"], to: "orgs" },
];

/**
 * Moves counts, labels and the removal of dependent rows from the database to the service.
 *
 * A server of an earlier version does not maintain counts and labels and relies on cascades. After this migration, such a
 * server can only read.
 */
export async function dropTriggersAndCascades(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Locks the tables first and in a fixed order, because running servers lock rows of several of them.
    `lock table customers, orgs, projects, members, api_keys, groups, group_members, subgroups, roles, role_bindings, changes
      in access exclusive mode`,
    ...counted.flatMap(({ table, keepsDeleted }) =>
      ["insert", "delete", ...(keepsDeleted ? ["update"] : [])].map(
        (event) => `drop trigger ${table}_count_${event} on ${table}`,
      ),
    ),
    ...labelled.flatMap((table) =>
      ["insert", "update", "delete"].map((event) => `drop trigger ${table}_labels_${event} on ${table}`),
    ),
    // Every write appends to the change log. An older server does not know this column, so all of its writes fail.
    `alter table changes add column writer smallint not null default 1`,
    `alter table changes alter column writer drop default`,

    `drop function count_resources`,
    `drop function keep_labels`,
    ...cascades.flatMap(({ table, columns, to }) => {
      const name = `${table}_${columns.join("_")}_fkey`;
      return [
        `alter table ${table} drop constraint ${name}`,
        // The rows satisfy it, because the replaced constraint was in force.
        `alter table ${table} add constraint ${name} foreign key (${columns.join(", ")}) references ${to} not valid`,
        `alter table ${table} validate constraint ${name}`,
      ];
    }),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
