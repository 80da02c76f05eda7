// The orgs that each caller has last asked about, other than its own. Their heads are read in the statement that reads the caller's
// key, so that a caller that asks about the same orgs again waits for the database once instead of twice.
import type { OrgHead } from "../changes/revision.ts";
import type { Reference } from "../paths/parse-path.ts";

export interface RecentOrgs {
  /** Returns the ids of the orgs that a client is likely to ask about. */
  of(clientId: string): readonly string[];
  add(clientId: string, orgId: string): void;
}

/** The head of an org that was read with the key of a call. */
export interface RecentHead extends OrgHead {
  /** Whether members of the platform need an approval in the customer of the org. */
  readonly isGuarded: boolean;
}

/** A call of a client, with the heads that were read with its key. */
export interface CallerWithHeads {
  readonly clientId: string;
  readonly recentHeads: readonly RecentHead[];
}

/** Returns the head of an org that was read with the key of a call. Checks what `matchesReference` checks in the database. */
export function findRecentHead(
  { recentHeads }: Pick<CallerWithHeads, "recentHeads">,
  org: Reference,
): RecentHead | undefined {
  if (org.by === "id") return recentHeads.find(({ id }) => id === org.value);
  return recentHeads.find(
    ({ name, delete_time: deleteTime }) => org.by === "name" && name === org.value && !deleteTime,
  );
}

const maxClients = 10_000;
const maxOrgsOfClient = 4;

export function createRecentOrgs(): RecentOrgs {
  /** In the order of last use, least recent first; the orgs most recent first. */
  const byClient = new Map<string, readonly string[]>();
  return {
    of: (clientId) => byClient.get(clientId) ?? [],

    add(clientId, orgId) {
      const before = byClient.get(clientId) ?? [];
      if (before[0] === orgId) return;
      byClient.delete(clientId);
      byClient.set(clientId, [orgId, ...before.filter((id) => id !== orgId)].slice(0, maxOrgsOfClient));
      const [oldest] = byClient.keys();
      if (byClient.size > maxClients && oldest !== undefined) byClient.delete(oldest);
    },
  };
}
