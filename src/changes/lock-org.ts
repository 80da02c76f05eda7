import { type RawBuilder, type Selectable, type Transaction, sql } from "kysely";
import { matchesReference, orgLevel } from "../database/match-reference.ts";
import type { Orgs, Schema } from "../database/schema.ts";
import { ServiceError, notFound } from "../errors/service-error.ts";
import { formatReferences, pathName } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/parse-path.ts";
import type { LockedOrg } from "./author.ts";

export type LockedOrgRow = Selectable<Orgs> &
  LockedOrg & {
    /** The same as `lockTime`, with microseconds: `2030-01-31T23:59:59.000001Z`. */
    readonly clock: string;
    /** The earliest time of the next revision: `2030-01-31T23:59:59.000001Z`. */
    readonly nextTime: string;
  };

const textOf = (time: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const clock = textOf(sql`clock_timestamp()`);
const nextTime = textOf(sql`greatest(clock_timestamp(), revision_time + interval '1 microsecond')`);

/** @throws ServiceError RESOURCE_NOT_FOUND */
export async function lockOrg(db: Transaction<Schema>, reference: Reference): Promise<LockedOrgRow> {
  const org = await db
    .with(
      (cte) => cte("locked").materialized(),
      (query) =>
        query
          .selectFrom("orgs")
          .selectAll()
          .where(matchesReference(orgLevel, reference))
          .modifyEnd(sql`for no key update`),
    )
    .selectFrom("locked")
    .selectAll()
    // The outer query gets the row when it is locked.
    .select(sql<Date>`clock_timestamp()`.as("lockTime"))
    .select([clock.as("clock"), nextTime.as("nextTime")])
    .executeTakeFirst();
  if (org === undefined) throw notFound("org", formatReferences(patterns.Org, [reference]));
  return org;
}

/** @throws ServiceError STATE_FORBIDS */
export function requireActiveOrg(org: Selectable<Orgs>): void {
  const state = org.delete_time === null ? org.state : "DELETED";
  if (state === "ACTIVE") return;
  const path = formatReferences(patterns.Org, [{ by: "name", value: pathName(org) }]);
  throw new ServiceError("STATE_FORBIDS", `the org ${path} is ${state}: nothing in it can be changed`, {
    metadata: { resource: path, state },
  });
}
