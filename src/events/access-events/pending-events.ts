// What has happened and is not written yet. Whoever sends calls that are refused chooses how many there are, so both what a server holds
// and what one caller adds to it are bounded.
import { networkOf } from "../../identity/address-prefix.ts";
import { createCounts } from "../../scheduling/counts.ts";
import type { AccessEvent } from "./access-event.ts";

/** Events that have in common what a line of a log says, by the first of them. */
export interface PendingEvent {
  readonly event: AccessEvent;
  /** What events of one line of a log have in common. */
  readonly key: string;
  /** When the first and the last one were, by the clock that was given. */
  readonly firstMs: number;
  lastMs: number;
  count: number;
}

export interface PendingLimits {
  readonly inAll: number;
  /** Of one caller or, if it is not known, of one address; of one /64 for IPv6. */
  readonly perCaller: number;
  /** Of the members of one org or, if the caller is not known, of those who ask for it. */
  readonly perOrg: number;
}

export interface PendingEvents {
  add(event: AccessEvent): void;
  readonly size: () => number;
  /** How many events were left out because there was no room. */
  readonly dropped: () => number;
  /** Takes all that wait. */
  take(): PendingEvent[];
  /** Puts back what could not be written, as far as there is room. */
  putBack(events: readonly PendingEvent[]): void;
}

/** @param clock a monotonic clock, in milliseconds. */
export function createPendingEvents({ inAll, perCaller, perOrg }: PendingLimits, clock: () => number): PendingEvents {
  let pending = new Map<string, PendingEvent>();
  let ofCallers = createCounts(perCaller);
  let ofOrgs = createCounts(perOrg);
  let dropped = 0;

  const put = (added: PendingEvent): void => {
    const { event, key, lastMs, count } = added;
    const place = `${event.org?.by} ${event.org?.value} ${key}`;
    const found = pending.get(place);
    if (found !== undefined) {
      found.count += count;
      found.lastMs = Math.max(found.lastMs, lastMs);
      return;
    }
    const caller = event.caller?.memberId ?? networkOf(event.remoteAddress ?? "");
    const org = event.caller?.orgId ?? event.org?.value ?? "";
    if (pending.size >= inAll || ofCallers.isFull(caller) || ofOrgs.isFull(org)) {
      dropped += count;
      return;
    }
    ofCallers.add(caller);
    ofOrgs.add(org);
    pending.set(place, added);
  };

  return {
    add(event) {
      const now = clock();
      put({ event, key: keyOf(event), firstMs: now, lastMs: now, count: 1 });
    },
    size: () => pending.size,
    dropped: () => dropped,
    take() {
      const taken = [...pending.values()];
      pending = new Map();
      ofCallers = createCounts(perCaller);
      ofOrgs = createCounts(perOrg);
      return taken;
    },
    putBack(events) {
      const later = this.take();
      for (const event of [...events, ...later]) put(event);
    },
  };
}

export function keyOf({ kind, caller, method, reason, remoteAddress }: AccessEvent): string {
  // Of somebody who is not known, the address is all there is.
  const who = caller
    ? [caller.orgId, caller.memberId, caller.impersonator?.memberId ?? "", caller.credentialId ?? ""]
    : [remoteAddress ?? ""];
  return JSON.stringify([kind, method, reason, ...who]);
}
