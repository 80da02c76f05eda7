// States of orgs that are kept, so that what was long ago need not be found out from all that has changed since: the rows as they were at a
// revision, some hundred in a piece, which PostgreSQL compresses. A state counts when it has its last piece, the row of the org. It can be
// removed at any time: what is asked is then read from another one, or from the rows of today.
import { type Kysely, type Transaction, sql } from "kysely";
import { timeText } from "../../database/clock.ts";
import { isInThePast } from "../../database/partitions.ts";
import { endOfNext } from "../revision.ts";
import type { OrgKey } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import type { Moment } from "./find-moment.ts";

/** The type of the piece that a state has when it is complete. */
export const lastPiece = "Org";

/** Finds the latest kept state at a moment or before it, from which on the log has everything. */
export async function findState(db: Transaction<Schema>, org: OrgKey, moment: Moment): Promise<Moment | undefined> {
  const { rows } = await sql<{ revision: string; time: string }>`
    select revision, ${timeText(sql`time`)} as time from past_states
    where customer_id = ${org.customer_id} and org_id = ${org.id} and resource_type = ${lastPiece}
      and revision <= ${moment.revision}
    order by revision desc limit 1`.execute(db);
  const [found] = rows;
  // Older ones have not more of the log. Of another timeline, the log does not have the revision.
  return found !== undefined && (await isInLog(db, org, found)) ? { ...found, head_time: moment.head_time } : undefined;
}

async function isInLog(
  db: Transaction<Schema>,
  org: OrgKey,
  { revision, time }: Pick<Moment, "revision" | "time">,
): Promise<boolean> {
  const { rows } = await sql`
    select from changes
    where customer_id = ${org.customer_id} and org_id = ${org.id} and revision = ${revision} and time = ${time}::timestamptz
    limit 1`.execute(db);
  return rows.length > 0;
}

/** Of an org before its first revision, there is a state without rows. */
const beforeAll = "00000000-0000-0000-0000-000000000000";

/** Returns the moment before an org was created, if the log has that. */
export async function findOrigin(
  db: Kysely<Schema>,
  org: OrgKey,
): Promise<Pick<Moment, "revision" | "time"> | undefined> {
  const { rows } = await sql<{ time: string }>`
    select ${timeText(sql`time`)} as time from changes
    where customer_id = ${org.customer_id} and org_id = ${org.id} and resource_id = ${org.id} and resource_type = 'Org'
      and before is null
    limit 1`.execute(db);
  const [creation] = rows;
  return creation && { revision: beforeAll, time: creation.time };
}

/** Returns the revisions of the states of an org, in order. */
export async function listStates(db: Kysely<Schema>, org: OrgKey): Promise<string[]> {
  const rows = await db
    .selectFrom("past_states")
    .select("revision")
    .where("customer_id", "=", org.customer_id)
    .where("org_id", "=", org.id)
    .where("resource_type", "=", lastPiece)
    .orderBy("revision")
    .execute();
  return rows.map(({ revision }) => revision);
}

/** Returns the first revision in the log whose number is not less. */
export async function findRevisionFrom(db: Kysely<Schema>, org: OrgKey, number: bigint): Promise<string | undefined> {
  const { rows } = await sql<{ revision: string }>`
    select revision from changes
    where customer_id = ${org.customer_id} and org_id = ${org.id} and revision > ${endOfNext(beforeAll, Number(number) - 1)}
      and position = 0 and ${sql.raw(isInThePast)}
    order by revision limit 1`.execute(db);
  return rows[0]?.revision;
}

/** Removes the states of an org, such as when something is erased from its log. To be called under its lock. */
export async function removeStates(db: Kysely<Schema>, { customer_id, id }: OrgKey): Promise<void> {
  await db.deleteFrom("past_states").where("customer_id", "=", customer_id).where("org_id", "=", id).execute();
}
