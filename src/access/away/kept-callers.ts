// The callers of the API keys that this server has accepted, for when the database is away. A key is kept by its hash, until it is refused. A
// limited key is not: only the database knows what counts for it.
import { hashApiKey } from "../../identity/api-key.ts";
import type { Caller } from "../../identity/caller.ts";
import type { CallerLookup } from "../../identity/caller-lookup.ts";
import { rememberedMs } from "../engine/tables/token-table.ts";
import { type HeldOrgs, unavailable } from "./held-orgs.ts";

export interface KeptCallers {
  /** Returns a lookup that does the same, and keeps what it finds. */
  readonly keeping: (lookup: CallerLookup) => CallerLookup;
  /**
   * Finds the caller of a key that was accepted, as far as the snapshot of its org knows.
   *
   * @throws ServiceError SERVICE_UNAVAILABLE when this server knows too little about the key or its org.
   */
  readonly find: CallerLookup;
}

/**
 * How many keys are kept, in all and of an org; the least recently used go first. A customer has no share: one with many orgs can displace the
 * keys of others, which are not known then until they are accepted again.
 */
const usualBounds = { all: 20_000, ofOrg: 500 };

export function createKeptCallers(
  orgs: Pick<HeldOrgs, "elapsed" | "head" | "timeAt">,
  bounds = usualBounds,
): KeptCallers {
  /** By the hash of the key, in the order of last use. */
  const kept = new Map<string, Caller>();
  /** The same keys of each org, in the same order, so that an org with many keys displaces its own. */
  const byOrg = new Map<string, Set<string>>();

  const forget = (key: string | undefined): void => {
    const caller = key === undefined ? undefined : kept.get(key);
    if (key === undefined || caller === undefined) return;
    kept.delete(key);
    const ofOrg = byOrg.get(caller.orgId);
    ofOrg?.delete(key);
    if (ofOrg?.size === 0) byOrg.delete(caller.orgId);
  };

  const keep = (key: string, caller: Caller): void => {
    const ofOrg = byOrg.get(caller.orgId) ?? new Set();
    byOrg.set(caller.orgId, ofOrg.add(key));
    kept.set(key, caller);
    if (ofOrg.size > bounds.ofOrg) forget(ofOrg.values().next().value);
    if (kept.size > bounds.all) forget(kept.keys().next().value);
  };

  return {
    keeping: (lookup) => async (text) => {
      const found = await lookup(text);
      if (found === "invalid" && kept.size === 0) return found;
      const key = keyOf(text);
      forget(key);
      if (found !== "invalid" && !("refusal" in found) && found.grantsUntil === null) keep(key, found);
      return found;
    },

    async find(text) {
      const caller = kept.get(keyOf(text));
      if (caller === undefined) throw unavailable("this server has not accepted the API key lately, or it is limited");
      return asHeld(caller, orgs);
    },
  };
}

const keyOf = (text: string): string => hashApiKey(text).toString("base64");

function asHeld(
  caller: Caller,
  orgs: Pick<HeldOrgs, "elapsed" | "head" | "timeAt">,
): Awaited<ReturnType<CallerLookup>> {
  const { orgId, memberId, credentialId, credentialExpireTime, orgHead } = caller;
  const { snapshot, now, revision, readAt, knownTime } = orgs.head({ by: "id", value: orgId });
  const { org, members, tokens } = snapshot;
  // The snapshot remembers that the key has ended only for as long as that ends tokens.
  if (orgs.elapsed(orgHead.readAt, readAt) > rememberedMs)
    throw unavailable("this server has not accepted the API key lately");
  if (tokens.endOf(credentialId, now) !== undefined) return "invalid";
  const holder = { memberId, orgId, credentialId };
  const member = members.findById(memberId);
  const isActive = org.state !== "DELETED" && member !== 0 && members.stateOf(member) === "ACTIVE";
  if (!isActive) return { ...holder, refusal: "member not active" };
  if (credentialExpireTime !== null && credentialExpireTime.getTime() <= now) return { ...holder, refusal: "expired" };
  const staleSince = Math.min(orgs.timeAt(orgHead.readAt), knownTime);
  return { ...caller, orgHead: { revision, readAt }, recentHeads: [], time: now, staleSince };
}
