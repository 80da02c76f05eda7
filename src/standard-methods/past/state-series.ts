// Which states of an org are kept: its latest, when it is due, and those that an older log is without.
import { findRevision } from "../../changes/past/find-moment.ts";
import { findOrigin, findRevisionFrom, listStates } from "../../changes/past/past-states.ts";
import { numberOf } from "../../changes/revision.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type KeepStateDependencies, keepState } from "./keep-state.ts";

export interface StateSeries extends KeepStateDependencies {
  /** The least number of revisions from one state to the next. */
  readonly leastRevisions: number;
}

/** Keeps the state of an org as it is, if enough has changed since the last one. Returns whether it did. */
export async function keepLatest(series: StateSeries, org: OrgKey): Promise<boolean> {
  const found = await readSeries(series, org);
  if (found === undefined) return false;
  const { head, step, states } = found;
  if (numberOf(head) - (states.at(-1) ?? 0n) < step) return false;
  return keepAt(series, org, head);
}

/** How many moments are tried that the log has not all of. */
const maxTries = 20;

/**
 * Keeps the first state that is missing between others, if any: what comes before it is near then. Where the log was cut, what was before may
 * not be known at first.
 *
 * @returns whether there may be another one.
 */
export async function keepNext(series: StateSeries, org: OrgKey): Promise<boolean> {
  const found = await readSeries(series, org);
  if (found === undefined) return false;
  const { head, step, states } = found;
  const { reads } = series.database;
  const hasOrigin = (await findOrigin(reads, org)) !== undefined;
  const ends = [...states, numberOf(head)];
  const gap = ends.findIndex((end, index) => end - (ends[index - 1] ?? 0n) >= 2n * step);
  if (gap === -1) return false;
  let from = (ends[gap - 1] ?? 0n) + (gap > 0 || hasOrigin ? step : 1n);
  for (let tries = 0; tries < maxTries; tries++) {
    const revision = await findRevisionFrom(reads, org, from);
    if (revision === undefined || numberOf(revision) + step > (ends[gap] ?? 0n)) return false;
    if (await keepAt(series, org, revision)) return true;
    from = numberOf(revision) + step;
  }
  return false;
}

interface Series {
  readonly head: string;
  /** How many revisions there are from one state to the next. */
  readonly step: bigint;
  /** The numbers of the revisions of those that are kept, in order. */
  readonly states: readonly bigint[];
}

/** Returns undefined if the org is gone. */
async function readSeries(
  { database: { reads }, leastRevisions }: StateSeries,
  org: OrgKey,
): Promise<Series | undefined> {
  const found = await reads
    .selectFrom("orgs")
    .select("revision")
    .where("customer_id", "=", org.customer_id)
    .where("id", "=", org.id)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const { rows } = await reads
    .selectFrom("resource_counts")
    .select(({ fn }) => fn.sum<string | null>("count").as("rows"))
    .where("customer_id", "=", org.customer_id)
    .where("org_id", "=", org.id)
    .executeTakeFirstOrThrow();
  const step = Math.max(leastRevisions, Number(rows ?? 0));
  return { head: found.revision, step: BigInt(step), states: (await listStates(reads, org)).map(numberOf) };
}

/** Returns false where the log has not all of the moment. */
async function keepAt(series: StateSeries, { id }: OrgKey, revision: string): Promise<boolean> {
  try {
    return await keepState(series, id, await findRevision(series.database.reads, id, revision, "revision"));
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "REVISION_EXPIRED") return false;
    throw error;
  }
}
