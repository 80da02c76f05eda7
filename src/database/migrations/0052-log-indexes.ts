import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

/**
 * The indexes with which lists of the change log cost what a page costs: all of an org, those of an actor, of a resource, of what contains
 * it, and all of the platform, in the order of their times.
 */
export const logIndexes: readonly Index[] = [
  { name: "changes_by_time", definition: "on changes (org_id, time)", isPartitioned: true },
  { name: "changes_by_actor", definition: "on changes (org_id, actor_id, time)", isPartitioned: true },
  { name: "changes_by_resource", definition: "on changes (org_id, resource_id, time)", isPartitioned: true },
  { name: "changes_by_container", definition: "on changes (org_id, container_id, time)", isPartitioned: true },
  { name: "changes_of_all", definition: "on changes (time)", isPartitioned: true },
];

/**
 * Declares the indexes. On a log with entries they are built on each partition by the next migration, while the log is written; an index of
 * the table alone is no work. Older servers write into the indexes and do not use them.
 */
export function declareLogIndexes(db: Kysely<unknown>): Promise<void> {
  return declareIndexes(db, logIndexes);
}

/** Declares indexes of the log. */
export async function declareIndexes(db: Kysely<unknown>, indexes: readonly Index[]): Promise<void> {
  const { rows } = await sql<{ any: boolean }>`select exists (select from changes) as any`.execute(db);
  const only = rows[0]?.any === true ? "only " : "";
  for (const { name, definition } of indexes) {
    const create = `create index ${name} ${definition.replace("on changes", `on ${only}changes`)}`;
    // There is nothing to be indexed.
    await sql.raw(`-- squawk-ignore require-concurrent-index-creation\n${create}`).execute(db);
  }
}
