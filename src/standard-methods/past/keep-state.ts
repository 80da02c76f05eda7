// Keeps the state of an org at a revision, from which the past is read.
import { type Kysely, type Transaction, sql } from "kysely";
import { readPastBase } from "../../access/snapshots/past-base.ts";
import { eraseMethods } from "../../changes/erase-from-log.ts";
import { type Moment, isLater } from "../../changes/past/find-moment.ts";
import { lastPiece } from "../../changes/past/past-states.ts";
import { type PastOrg, readPastOrg, requireHead } from "../../changes/past/read-past-org.ts";
import type { Database } from "../../database/database.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { customerColumnOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import type { ResourceRegistry } from "../definition/registry.ts";
import { asOfMoment, pastTypes } from "./past-tables.ts";

/** How many rows are in a piece: some hundred kilobytes, before PostgreSQL compresses them. */
const rowsOfPiece = 500;

export interface KeepStateDependencies {
  readonly database: Pick<Database, "reads" | "writes">;
  readonly registry: Pick<ResourceRegistry, "definitionOf">;
}

/**
 * Keeps the state of an org at a moment. Writes of the org wait at most for the last statement.
 *
 * @returns false if it is not kept: the log has not all of it, something was erased from the log meanwhile, or the org is gone.
 * @throws ServiceError REVISION_EXPIRED when the log no longer has all of it, RESOURCE_NOT_FOUND, SERVICE_UNAVAILABLE.
 */
export async function keepState(
  { database: { writes }, registry }: KeepStateDependencies,
  orgId: string,
  moment: Moment,
): Promise<boolean> {
  const inserted = await writes
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute((db) => insertPieces(db, registry, orgId, moment));
  if (inserted === undefined) return false;
  try {
    return await writes.transaction().execute((db) => complete(db, inserted, moment));
  } catch (error) {
    // Such as when the lock of the org is not free for long.
    await removePieces(writes, inserted.org, moment);
    throw error;
  }
}

interface Inserted {
  readonly org: PastOrg;
  /** How many there are. */
  readonly pieces: number;
}

/** Inserts the rows, all of one snapshot of the database. Locks nothing of the org. Returns undefined if the log has not all of them. */
async function insertPieces(
  db: Transaction<Schema>,
  registry: KeepStateDependencies["registry"],
  orgId: string,
  moment: Moment,
): Promise<Inserted | undefined> {
  // Not all in memory, and not once through all that has changed for each row.
  await sql`select set_config('enable_hashagg', 'off', true), set_config('enable_nestloop', 'off', true)`.execute(db);
  const org = await readPastOrg<object>(db, orgId, moment, ["name"]);
  const base = await readPastBase(db, org, moment);
  if (base.isCut) return undefined;
  for (const type of pastTypes) {
    const { table, key } = registry.definitionOf(type).storage;
    const row = sql`to_jsonb(${sql.table(table)}) - ${customerColumnOf(table) ?? ""}::text`;
    const place = sql`(row_number() over (order by ${sql.join(key.map((column) => sql.ref(`${table}.${column}`)))}) - 1)`;
    const insert = sql`
      insert into past_states (customer_id, org_id, resource_type, revision, piece, time, rows)
      select ${org.customer_id}::uuid, ${org.id}::uuid, ${type}, ${moment.revision}::uuid, piece, ${moment.time}::timestamptz,
        jsonb_agg(row)
      from (select ${row} as row, ${place} / ${sql.lit(rowsOfPiece)} as piece from ${sql.table(table)}) as placed
      group by piece
      on conflict do nothing`;
    await asOfMoment(registry, org, moment, base, insert).execute(db);
  }
  await requireHead(db, org);
  return { org, pieces: await countPieces(db, org, moment) };
}

async function countPieces(db: Transaction<Schema>, org: OrgKey, { revision }: Moment): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from past_states
    where customer_id = ${org.customer_id} and org_id = ${org.id} and revision = ${revision}
      and resource_type <> ${lastPiece}`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * Makes the pieces a state, unless something was erased from the log after they were read. An erasure removes states, and what is there of one, in each of
 * its transactions under the lock of the org, which this waits for, and in the last one says in the log that it was.
 */
async function complete(db: Transaction<Schema>, { org, pieces }: Inserted, moment: Moment): Promise<boolean> {
  const { rows } = await sql`
    select from orgs where customer_id = ${org.customer_id} and id = ${org.id} for share`.execute(db);
  const read = { revision: org.head, time: org.head_time, head_time: org.head_time };
  const { rows: erasures } = await sql`
    select from changes
    where customer_id = ${org.customer_id} and org_id = ${org.id} and method = any(${eraseMethods}::text[]) and ${isLater(read)} limit 1`.execute(
    db,
  );
  if (rows.length === 0 || erasures.length > 0 || (await countPieces(db, org, moment)) !== pieces) {
    await removePieces(db, org, moment);
    return false;
  }
  await sql`
    insert into past_states (customer_id, org_id, resource_type, revision, piece, time, rows)
    values (${org.customer_id}, ${org.id}, ${lastPiece}, ${moment.revision}, 0, ${moment.time}::timestamptz, '[]')
    on conflict do nothing`.execute(db);
  return true;
}

async function removePieces(db: Kysely<Schema>, { customer_id, id }: OrgKey, { revision }: Moment): Promise<void> {
  await db
    .deleteFrom("past_states")
    .where("customer_id", "=", customer_id)
    .where("org_id", "=", id)
    .where("revision", "=", revision)
    .execute();
}
