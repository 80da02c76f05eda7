import { type Kysely, sql } from "kysely";

/** The expressions that lists order by, besides ids. */
const ordered = {
  name: `name collate "C"`,
  display_name: `display_name collate "C", id`,
  create_time: "create_time, id",
  update_time: "update_time, id",
};

/** Keeps resources after they are deleted, until they are purged. Their names are free, and lists leave them out. */
export async function keepDeletedResources(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table resources
      add column delete_time timestamptz(3),
      add column purge_time timestamptz(3),
      add check ((delete_time is null) = (purge_time is null))`,
    `drop index resources_name_key`,
    `create unique index resources_name_key on resources (org_id, project_id, name) where delete_time is null`,
    `create index resources_live on resources (org_id, project_id, id) where delete_time is null`,
    `create index resources_purge on resources (purge_time) where purge_time is not null`,
    ...Object.entries(ordered).flatMap(([column, expression]) => [
      `drop index resources_by_${column}`,
      `create index resources_by_${column} on resources (org_id, project_id, ${expression}) where delete_time is null`,
      `create index resources_by_${column}_deleted on resources (org_id, project_id, ${expression})
        where delete_time is not null`,
    ]),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
