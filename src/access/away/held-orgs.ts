// What this server holds of orgs while the database is away: their snapshots, each with the last moment at which a read has shown that it was
// current. All times are of the database's clock, which goes on by the clocks of this machine.
import type { OrgHead } from "../../changes/revision.ts";
import { type Clocks, createAgeClock } from "../../database/age-clock.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Snapshots } from "../snapshots/current-snapshots.ts";

/** The head of an org up to which this server has its snapshot. */
export interface HeldHead extends Pick<OrgHead, "id" | "customer_id" | "revision" | "readAt" | "now"> {
  readonly snapshot: OrgSnapshot;
  /** When this was last known to be the head of the org, in milliseconds. */
  readonly knownTime: number;
}

export interface HeldOrgs {
  /** Compares the clocks of this machine, before a call reads the database's: a jump that is found here was before that. */
  readonly observeClocks: () => void;
  /** Notes the database's clock, as a call has read it. What this call has read must have arrived just before. */
  readonly noteTime: (caller: Pick<Caller, "time" | "orgHead">) => void;
  /** @throws ServiceError SERVICE_UNAVAILABLE when the org is not in memory. */
  readonly head: (org: Reference) => HeldHead;
  /** Returns the time of a moment before the last call that has reached the database, or an earlier one. @param at by this process's own clock. */
  readonly timeAt: (at: number) => number;
  /** Returns how many milliseconds have passed, at least, from one moment to another one, both by this process's own clock. */
  readonly elapsed: (from: number, to: number) => number;
  /** Reports whether what was last known at a time may answer. @param maxMs how old it may be for the caller. */
  readonly isRecent: (knownTime: number, maxMs: number) => boolean;
}

/** @param limitMs how old anything may be that answers. */
export function createHeldOrgs(
  snapshots: Pick<Snapshots, "confirmedAt" | "held" | "heldFrom">,
  limitMs: number,
  clocks?: Clocks,
): HeldOrgs {
  const clock = createAgeClock(clocks);
  /** The database has read its clock between these two moments. */
  let noted = { time: 0, sentAt: -Infinity, arrivedAt: -Infinity };
  /** Made when the first name is asked for, and until a call has reached the database again. */
  let names: ReadonlyMap<string, string> | undefined;

  /** Something may have expired: it is this time at the latest. */
  const latest = (): number => noted.time + clock.elapsed(noted.sentAt, clock.observe());

  /** Something may have changed since: it was this time at the earliest. */
  const timeAt = (at: number): number => noted.time - clock.elapsed(at, noted.arrivedAt);

  const idOf = (org: Reference): string | undefined => {
    if (org.by !== "name") return org.by === "id" ? org.value : undefined;
    names ??= namesOf(snapshots);
    const id = names.get(org.value);
    return id !== undefined && snapshots.held(id)?.org.name === org.value ? id : undefined;
  };

  return {
    observeClocks: () => void clock.observe(),

    noteTime({ time, orgHead: { readAt } }) {
      names = undefined;
      const arrivedAt = clock.observe();
      if (readAt > noted.sentAt) noted = { time, sentAt: readAt, arrivedAt };
    },

    head(reference) {
      const id = idOf(reference);
      const snapshot = id === undefined ? undefined : snapshots.held(id);
      const readAt = id === undefined ? undefined : snapshots.confirmedAt(id);
      if (snapshot === undefined || readAt === undefined)
        throw unavailable("this server does not have the org in memory");
      const { org, revision } = snapshot;
      return {
        id: org.id,
        customer_id: org.customerId,
        revision,
        readAt,
        now: latest(),
        snapshot,
        knownTime: timeAt(readAt),
      };
    },

    timeAt,

    elapsed: clock.elapsed,

    isRecent: (knownTime, maxMs) => latest() - knownTime <= Math.min(maxMs, limitMs),
  };
}

/** Returns the ids of the orgs in memory by their names. Of orgs that had a name one after the other, the last one that was known to have it. */
function namesOf({ heldFrom, confirmedAt }: Pick<Snapshots, "confirmedAt" | "heldFrom">): Map<string, string> {
  const ids = new Map<string, string>();
  for (const { org } of heldFrom(0)) {
    if (org.state === "DELETED") continue;
    const other = ids.get(org.name);
    if (other === undefined || (confirmedAt(other) ?? 0) < (confirmedAt(org.id) ?? 0)) ids.set(org.name, org.id);
  }
  return ids;
}

/** Returns the error of a call that cannot be answered without the database. */
export function unavailable(reason: string): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", `the database cannot be reached, and ${reason}; try again`, {
    retryAfterMs: 1_000,
  });
}
