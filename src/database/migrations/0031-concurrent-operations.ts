import { type Kysely, sql } from "kysely";

/**
 * Lets concurrent operations of a resource run at the same time. While they do, `operation_id` is the first of them, so older
 * servers start nothing beside them. One that ends such an operation would set `operation_id` to null, which the constraint
 * refuses: the provider's next call, to a newer server, ends it.
 */
export async function allowConcurrentOperations(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table resources
      add column concurrent_ids uuid[] not null default '{}',
      add constraint resources_concurrent_check
        check (concurrent_ids = '{}' or (operation_id is not null and operation_id = any (concurrent_ids)))`,
    `alter table operations add column is_concurrent boolean not null default false`,
    `drop index operations_open`,
    // A resource has one operation at a time, unless all of them are concurrent.
    `create unique index operations_open on operations (org_id, resource_id)
      where (end_time is null and not is_concurrent)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
