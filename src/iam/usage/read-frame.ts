// What bounds a question about usage: the clock, and how far back the log reaches.
import { type Kysely, sql } from "kysely";
import { formatMicroseconds } from "../../changes/revision-time.ts";
import { oldestMonth } from "../../database/partitions.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import type { UsageScope } from "./select-usage.ts";

export interface UsageFrame {
  /** Until when everything is known, in microseconds: the clock of the database, or the latest revision if that is ahead of it. */
  readonly now: number;
  readonly clock: number;
  /** When the scope was created. */
  readonly created: number;
  /** Since when everything is known; 0 if the log has all of the scope. */
  readonly oldest: number;
}

interface FrameRow {
  readonly now: string;
  readonly clock: string;
  readonly created: string;
  readonly oldest_month: string | null;
}

/** @throws ServiceError RESOURCE_NOT_FOUND if the scope is purged. */
export async function readFrame(db: Kysely<Schema>, { kind, id, customerId, orgId }: UsageScope): Promise<UsageFrame> {
  const table = sql.table(`${kind}s`);
  const isIt =
    kind === "customer"
      ? sql`scope.id = ${id}`
      : sql`scope.customer_id = ${customerId} and scope.id = ${id} ${kind === "project" ? sql`and scope.org_id = ${orgId}` : sql``}`;
  const { rows } = await sql<FrameRow>`
    select (extract(epoch from scope.create_time) * 1000000)::bigint as created, ${oldestMonth} as oldest_month,
      (extract(epoch from clock_timestamp()) * 1000000)::bigint as clock, (extract(epoch from greatest(clock_timestamp(), (
        select max(revision_time) from orgs
        where orgs.customer_id = ${customerId} ${orgId === null ? sql`` : sql`and orgs.id = ${orgId}`}
      ))) * 1000000)::bigint as now
    from ${table} as scope where ${isIt}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw notFound(kind, `@${id}`);
  const oldest = Date.parse(`${row.oldest_month?.replace("_", "-")}-01T00:00:00Z`) * 1000;
  // Before the scope was created there was nothing in it.
  const [now, clock, created] = [row.now, row.clock, row.created].map(Number) as [number, number, number];
  return { now, clock, created, oldest: created < oldest ? oldest : 0 };
}

/** @throws ServiceError REVISION_EXPIRED if the log does not reach back to the start of a period. */
export function requireLogged({ oldest }: UsageFrame, start: number): void {
  if (start >= oldest) return;
  const time = formatMicroseconds(oldest);
  throw new ServiceError(
    "REVISION_EXPIRED",
    `the log does not reach back to ${formatMicroseconds(start)}, the from_time: the oldest is ${time}`,
    { metadata: { oldest_time: time } },
  );
}
