import type { OrgHeads } from "../access/snapshots/org-heads.ts";
import type { OrgSnapshot } from "../access/engine/org-snapshot.ts";
import { isOrgOf } from "../access/evaluation/resolve-in-snapshot.ts";
import type { Snapshots } from "../access/snapshots/snapshots.ts";
import type { Caller } from "../identity/caller.ts";
import type { Reference } from "../paths/resource-path.ts";

/** The snapshot of an org to decide by, and the database's clock when it was confirmed, in milliseconds. */
export interface Confirmed {
  readonly snapshot: OrgSnapshot;
  readonly now: number;
}

/** How old a decision may be, by the caller's own wish. */
export interface Staleness {
  readonly maxMs: number;
  /** The least revision that will do. */
  readonly revision: bigint;
}

export interface SubjectOrgs {
  /**
   * The snapshot of the org that a reference names, confirmed by a read that started after the call arrived or, where that
   * is wished, a little before.
   *
   * @returns undefined when there is no such org.
   */
  confirm(caller: Caller, reference: Reference, staleness: Staleness | undefined): Promise<Confirmed | undefined>;
}

/** That a snapshot was confirmed; not the snapshot itself, which may have to make room. */
interface Recent {
  readonly orgId: string;
  readonly revision: bigint;
  readonly now: number;
  /** By this process's own clock. */
  readonly startMs: number;
}

const maxRecent = 10_000;
/** The longest `max_staleness`. */
const maxAgeMs = 60_000;

export function createSubjectOrgs(
  snapshots: Snapshots,
  heads: OrgHeads,
  clock: () => number = () => performance.now(),
): SubjectOrgs {
  /** What was confirmed last, by the reference, in the order in which that was. */
  const recent = new Map<string, Recent>();

  const remember = (key: string, entry: Recent): void => {
    recent.delete(key);
    recent.set(key, entry);
    for (const [oldest, { startMs }] of recent) {
      if (recent.size <= maxRecent && entry.startMs - startMs <= maxAgeMs) return;
      recent.delete(oldest);
    }
  };

  return {
    async confirm(caller, reference, staleness) {
      const own = await snapshots.at(caller.orgId, caller.orgRevision);
      // The call's own credentials were read with the head of the caller's org.
      if (isOrgOf(own, reference)) return { snapshot: own, now: caller.time };
      const key = orgKey(reference);
      const startMs = clock();
      const last = staleness && recent.get(key);
      if (staleness !== undefined && last !== undefined && last.revision >= staleness.revision) {
        const age = startMs - last.startMs;
        const snapshot = age <= staleness.maxMs ? snapshots.held(last.orgId) : undefined;
        if (snapshot !== undefined) return { snapshot, now: last.now + age };
      }
      const head = await heads([reference]);
      if (head === undefined) return undefined;
      const snapshot = await snapshots.at(head.id, head.revision);
      if (staleness !== undefined) {
        remember(key, { orgId: head.id, revision: BigInt(head.revision), now: head.now, startMs });
      }
      return { snapshot, now: head.now };
    },
  };
}

/** The same for the same reference. */
export function orgKey(org: Reference): string {
  return org.by === "any" ? "-" : `${org.by} ${org.value}`;
}
