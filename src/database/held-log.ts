// The log is kept for longer while webhooks with `hold_retention` have not delivered what is older, up to a limit of the operator: their
// receivers are promised all of it, and what is kept is the log of all orgs.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Schema } from "./schema.ts";

/** How long the log is kept, in days. */
export interface LogDays {
  readonly kept: number;
  /** How much longer for webhooks. */
  readonly held: number;
}

/** The condition, in SQL, of webhooks of orgs that have not delivered all of their logs, where `orgs` is the org. */
export const isHolding: RawBuilder<SqlBool> = sql<SqlBool>`webhooks.hold_retention
  and (orgs.revision_time > webhooks.cursor_time or webhooks.cursor_position <> 2147483647)`;

/** A webhook for which the log is kept for longer. */
interface Holding {
  readonly org_id: string;
  readonly id: string;
  /** Up to when it has delivered; of a webhook of a customer, the log of which it has delivered least. */
  readonly cursor_time: Date;
}

/** Selects the webhooks with `hold_retention` that have not delivered everything and whose time is not over: what those need that are behind for longer is gone. */
function selectHolding({ kept, held }: LogDays): RawBuilder<Holding> {
  const since = sql`now() - make_interval(days => ${kept + held})`;
  return sql<Holding>`
    select webhooks.org_id, webhooks.id, webhooks.cursor_time
    from webhooks join orgs on orgs.customer_id = webhooks.org_customer_id and orgs.id = webhooks.org_id
    where ${isHolding} and webhooks.cursor_time >= ${since}
    union all
    select behind.org_id, behind.id, min(behind.cursor_time)
    from (${selectLogsBehind(sql`true`)}) as behind where behind.cursor_time >= ${since} group by behind.org_id, behind.id`;
}

/** Selects what webhooks of customers with `hold_retention` have not delivered: a row for each log, also where nobody has noted that yet. */
function selectLogsBehind(isWanted: RawBuilder<SqlBool>): RawBuilder<Holding> {
  const cursorTime = sql`coalesce(logs.cursor_time, webhooks.start_time)`;
  return sql<Holding>`
    select webhooks.org_id, webhooks.id, ${cursorTime} as cursor_time
    from webhooks join (
      select customer_id, id, revision_time from orgs union all select id, id, revision_time from customers
    ) as heads on heads.customer_id = webhooks.parent_customer_id
    left join webhook_logs as logs
      on logs.customer_id = webhooks.customer_id and logs.webhook_id = webhooks.id and logs.org_id = heads.id
    where webhooks.hold_retention and ${isWanted}
      and (heads.revision_time > ${cursorTime} or logs.cursor_position <> 2147483647)`;
}

/** Returns up to when a webhook of a customer has delivered, of the log of which it has delivered least; null if it holds none. */
export async function readHeldSince(db: Kysely<Schema>, customerId: string, id: string): Promise<Date | null> {
  const isIt = sql<SqlBool>`webhooks.parent_customer_id = ${customerId} and webhooks.id = ${id}`;
  const { rows } = await sql<{ since: Date | null }>`
    select min(cursor_time) as since from (${selectLogsBehind(isIt)}) as behind`.execute(db);
  return rows[0]?.since ?? null;
}

/** Returns how many days of the log are kept now. */
export async function readDaysToKeep(db: Kysely<Schema>, logDays: LogDays): Promise<number> {
  const { kept, held } = logDays;
  const { rows } = await sql<{ days: number | null }>`
    select (extract(epoch from now() - min(cursor_time)) / 86400)::float8 as days
    from (${selectHolding(logDays)}) as holding`.execute(db);
  const behind = Math.ceil(rows[0]?.days ?? 0);
  return Math.min(Math.max(behind, kept), kept + held);
}

/** Returns the webhooks that need more of the log than is kept without them, the one that is behind most first. */
export async function findHolding(db: Kysely<Schema>, logDays: LogDays, limit: number): Promise<Holding[]> {
  const { rows } = await sql<Holding>`
    select org_id, id, cursor_time from (${selectHolding(logDays)}) as holding
    where cursor_time < now() - make_interval(days => ${logDays.kept})
    order by cursor_time limit ${limit}`.execute(db);
  return rows;
}
