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

/** The condition, in SQL, of webhooks that have not delivered all of their logs, where `orgs` is the org. */
export const isHolding: RawBuilder<SqlBool> = sql<SqlBool>`webhooks.hold_retention
  and (orgs.revision_time > webhooks.cursor_time or webhooks.cursor_position <> 2147483647)`;

/** The condition of webhooks whose time is not over: what those need that are behind for longer is gone. */
const isInTime = ({ kept, held }: LogDays): RawBuilder<SqlBool> =>
  sql<SqlBool>`webhooks.cursor_time >= now() - make_interval(days => ${kept + held})`;

/** Returns how many days of the log are kept now. */
export async function readDaysToKeep(db: Kysely<Schema>, logDays: LogDays): Promise<number> {
  const { kept, held } = logDays;
  const { rows } = await sql<{ days: number | null }>`
    select (extract(epoch from now() - min(webhooks.cursor_time)) / 86400)::float8 as days
    from webhooks join orgs on orgs.customer_id = webhooks.customer_id and orgs.id = webhooks.org_id
    where ${isHolding} and ${isInTime(logDays)}`.execute(db);
  const behind = Math.ceil(rows[0]?.days ?? 0);
  return Math.min(Math.max(behind, kept), kept + held);
}

/** A webhook for which the log is kept for longer. */
interface Holding {
  readonly org_id: string;
  readonly id: string;
  /** Up to when it has delivered. */
  readonly cursor_time: Date;
}

/** Returns the webhooks that need more of the log than is kept without them, the one that is behind most first. */
export async function findHolding(db: Kysely<Schema>, logDays: LogDays, limit: number): Promise<Holding[]> {
  const { rows } = await sql<Holding>`
    select webhooks.org_id, webhooks.id, webhooks.cursor_time
    from webhooks join orgs on orgs.customer_id = webhooks.customer_id and orgs.id = webhooks.org_id
    where ${isHolding} and ${isInTime(logDays)} and webhooks.cursor_time < now() - make_interval(days => ${logDays.kept})
    order by webhooks.cursor_time limit ${limit}`.execute(db);
  return rows;
}
