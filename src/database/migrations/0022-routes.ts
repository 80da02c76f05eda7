import { type Kysely, sql } from "kysely";

/** Lets claims name the types and the routing keys of the operations that they take. Older servers start operations without keys. */
export async function addRoutes(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table resource_types add column routing_parameter text not null default ''`,
    `alter table operations add column routing_key text not null default ''`,
    `create index operations_queue_by_key on operations (service_id, routing_key, next_attempt_time) where (end_time is null)`,
    `create index operations_queue_by_type on operations (service_id, type_id, next_attempt_time) where (end_time is null)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
