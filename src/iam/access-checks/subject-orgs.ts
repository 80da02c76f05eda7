import { type HeldOrgs, unavailable } from "../../access/away/held-orgs.ts";
import type { OrgHeads } from "../../access/snapshots/org-heads.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import type { ViewCaller } from "../../access/evaluation/caller-view.ts";
import type { AccessEvaluator } from "../../access/evaluation/evaluator.ts";
import { isOrgOf } from "../../access/evaluation/resolve-in-snapshot.ts";
import { seesOwnOrg } from "../../access/evaluation/sees-own-org.ts";
import type { Snapshots } from "../../access/snapshots/current-snapshots.ts";
import { createElapsedClock } from "../../database/age-clock.ts";
import type { Caller } from "../../identity/caller.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/parse-path.ts";

/** The snapshot of an org for decisions, and the database's clock when it was confirmed, in milliseconds. */
export interface Confirmed {
  readonly snapshot: OrgSnapshot;
  readonly now: number;
  /** Set while the database is away: when what decides was last known to be current, in milliseconds of its clock. */
  readonly staleSince?: number | undefined;
}

/** How old a decision may be, as requested by the caller. */
export interface Staleness {
  readonly maxMs: number;
  /** The revision that the decision must include; empty for any. */
  readonly revision: string;
}

/**
 * The gate that every question about an org's members, groups and projects passes. The interceptor authorises a call on the
 * resource that the request names; a caller without access to the subject's org must not learn whether the subject, or its org,
 * exists. So a caller may ask about its own org, unless that is suspended, and about orgs on which it holds the permission.
 */
export interface SubjectOrgs {
  /**
   * Returns the snapshot of the org that a reference names. It is confirmed by a read that started after the call arrived or,
   * if `staleness` allows it, shortly before. For a caller that was authenticated from memory, it is the one in memory.
   *
   * @param permission of the method that asks.
   * @returns undefined if there is no such org, or if the caller may not ask about it.
   * @throws ServiceError SERVICE_UNAVAILABLE when what is in memory is older than `staleness` allows.
   */
  confirm(
    caller: Caller,
    reference: Reference,
    permission: string,
    staleness: Staleness | undefined,
  ): Promise<Confirmed | undefined>;
}

/** A recent confirmation of a snapshot. It does not hold the snapshot itself, which may be evicted. */
interface Recent {
  readonly orgId: string;
  readonly now: number;
  /** By this process's own clock. */
  readonly startMs: number;
}

const maxRecent = 10_000;
/** How old a decision is at most while the database answers, whatever a caller allows. */
const maxAgeMs = 60_000;

export function createSubjectOrgs(
  viewCaller: ViewCaller,
  snapshots: Snapshots,
  heads: OrgHeads,
  evaluator: AccessEvaluator,
  held: Pick<HeldOrgs, "head" | "isRecent">,
  clock: () => number = createElapsedClock(),
): SubjectOrgs {
  /** The last confirmations, by reference and by id, oldest first. */
  const recent = new Map<string, Recent>();

  const remember = (key: string, entry: Recent): void => {
    recent.delete(key);
    recent.set(key, entry);
    for (const [oldest, { startMs }] of recent) {
      if (recent.size <= maxRecent && entry.startMs - startMs <= maxAgeMs) return;
      recent.delete(oldest);
    }
  };

  /** Confirms an org for a call that was authenticated from memory. */
  const asHeld = (snapshot: OrgSnapshot, now: number, staleSince: number, staleness?: Staleness): Confirmed => {
    if (held.isRecent(staleSince, staleness?.maxMs ?? 0)) return { snapshot, now, staleSince };
    throw unavailable("what this server has in memory is older than max_staleness allows");
  };

  return {
    async confirm(caller, reference, permission, staleness) {
      const { snapshot: own, check } = await viewCaller(caller);
      const { staleSince, time } = caller;
      // The head of the caller's org was read together with the credentials of the call.
      if (isOrgOf(own, reference)) {
        if (!seesOwnOrg(own, check, evaluator.recordUse)) return undefined;
        return staleSince === undefined ? { snapshot: own, now: time } : asHeld(own, time, staleSince, staleness);
      }
      const path = { pattern: patterns.Org, references: [reference] };
      const target = await evaluator.resolveAllowed(own, check, permission, path);
      if (target === undefined) return undefined;
      // By id from here on, so that the org that is confirmed is the one that the caller may ask about, also if its name changes.
      // Only callers who may ask about every org keep the name.
      const org = target.references[0] ?? reference;
      if (staleSince !== undefined) {
        const { snapshot, knownTime } = held.head(org);
        return asHeld(snapshot, time, Math.min(staleSince, knownTime), staleness);
      }
      const key = orgKey(org);
      const startMs = clock();
      const last = staleness && recent.get(key);
      if (staleness !== undefined && last !== undefined) {
        const { maxMs, revision } = staleness;
        const age = startMs - last.startMs;
        const snapshot = age <= Math.min(maxMs, maxAgeMs) ? snapshots.held(last.orgId) : undefined;
        if (snapshot !== undefined && (revision === "" || snapshot.hasReached(revision))) {
          return { snapshot, now: last.now + age };
        }
      }
      const head = await heads([org], caller);
      if (head === undefined) return undefined;
      const snapshot = await snapshots.at(head.id, head);
      if (staleness !== undefined) {
        // By its id for methods that were authorised in the org, and no matter how the caller names it.
        for (const each of new Set([key, orgKey({ by: "id", value: head.id })])) {
          remember(each, { orgId: head.id, now: head.now, startMs });
        }
      }
      return { snapshot, now: head.now };
    },
  };
}

/** Returns the same key for the same reference. */
export function orgKey(org: Reference): string {
  return org.by === "any" ? "-" : `${org.by} ${org.value}`;
}
