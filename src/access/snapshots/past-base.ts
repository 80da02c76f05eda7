// Which rows a reading of the past begins with: those of today, or those of a kept state. Whatever is nearer by revisions costs less.
import { type Transaction, sql } from "kysely";
import type { Moment } from "../../changes/past/find-moment.ts";
import { findOrigin, findState } from "../../changes/past/past-states.ts";
import type { PastOrg } from "../../changes/past/read-past-org.ts";
import type { PastBase } from "../../changes/past/read-past-rows.ts";
import { numberOf } from "../../changes/revision.ts";
import type { Schema } from "../../database/schema.ts";
import { isRemovalBetween, readRemovals } from "./past-removals.ts";

/** What an org as of a moment is read from. */
export interface OrgBase extends PastBase {
  /** Whether something was purged since of which the log has not all that referred to it. A kept state has all of it. */
  readonly isCut: boolean;
  /** How many revisions there are between the moment and what the rows are taken from. */
  readonly distance: bigint;
}

/**
 * Finds what an org as of a moment is best read from.
 *
 * @throws ServiceError REVISION_EXPIRED when the log no longer has all of it.
 */
export async function readPastBase(db: Transaction<Schema>, org: PastOrg, moment: Moment): Promise<OrgBase> {
  const ofMoment = numberOf(moment.revision);
  const since = numberOf(org.head) - ofMoment;
  const state = since === 0n ? undefined : ((await findState(db, org, moment)) ?? (await findStart(db, org, moment)));
  const distance = state === undefined ? since : ofMoment - numberOf(state.revision);
  if (state === undefined || distance >= since) {
    return { state: undefined, ...(await readRemovals(db, org, moment)), distance: since };
  }
  const { rows } = await sql<{ removed: boolean }>`
    select exists (select from changes where ${isRemovalBetween(org, state, moment)}) as removed`.execute(db);
  return { state, hasRemovals: rows[0]?.removed === true, isCut: false, distance };
}

/** An org had nothing before it was created. */
async function findStart(db: Transaction<Schema>, org: PastOrg, moment: Moment): Promise<Moment | undefined> {
  const origin = await findOrigin(db, org);
  return origin && { ...origin, head_time: moment.head_time };
}
