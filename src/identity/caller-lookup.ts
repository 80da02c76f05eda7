// Finds the callers of API keys. All calls that wait for the same statement with the same key share the hash of the key, its row and
// its caller, which are forgotten with them: nothing about a key outlives the calls that were there before it was read.
import { sql } from "kysely";
import { type Lookup, createBatcher } from "../database/batch.ts";
import type { Database } from "../database/database.ts";
import { hashApiKey, isSameHash, parseApiKey } from "./api-key.ts";
import type { RecentHead, RecentOrgs } from "./recent-orgs.ts";
import type { Caller } from "./caller.ts";
import { type RecentColumns, recentColumns, recentHeadsOf } from "./recent-heads.ts";
import { clockMs } from "../database/clock.ts";

/** Whether a member is active, in an org that is not deleted. The access decision handles suspended orgs. */
export const isActiveMember = sql<boolean>`
  members.state = 'ACTIVE' and members.delete_time is null and orgs.delete_time is null`;

interface FoundKey {
  readonly prefix: string;
  readonly id: string;
  readonly customer_id: string;
  readonly org_id: string;
  readonly member_id: string;
  readonly hash: Buffer;
  readonly expire_time: Date | null;
  readonly active: boolean;
  readonly grants_until: string | null;
  readonly scopes: readonly string[] | null;
  readonly allowed_addresses: readonly string[] | null;
  readonly org_revision: string;
  readonly now: number;
  /** When the read started, by this process's own clock. */
  readonly readAt: number;
  /** The heads of the orgs that are likely to be asked about, from the same statement. */
  readonly recent: readonly RecentHead[];
}

/** A row for each of these orgs, or one without. */
interface KeyRow extends Omit<FoundKey, "readAt" | "recent">, RecentColumns {}

/** A key that exists and is not accepted. */
interface RefusedKey extends Pick<Caller, "orgId" | "memberId" | "credentialId"> {
  readonly refusal: "expired" | "member not active";
}

/** Finds the caller of an API key, by its text. */
export type CallerLookup = Lookup<string, Caller | RefusedKey | "invalid">;

interface CallerLookupOptions {
  readonly database: Database;
  readonly recentOrgs: RecentOrgs;
}

export function createCallerLookup({ database, recentOrgs }: CallerLookupOptions): CallerLookup {
  const { sql: text } = sql`
    select api_keys.prefix, api_keys.id, api_keys.customer_id, api_keys.org_id, api_keys.member_id, api_keys.hash,
      api_keys.expire_time,
      (${isActiveMember}) as active, api_keys.grants_until, api_keys.scopes, api_keys.allowed_addresses,
      orgs.revision as org_revision, ${clockMs} as now,
      ${recentColumns}
    from api_keys
    join members on members.customer_id = api_keys.customer_id and members.org_id = api_keys.org_id
      and members.id = api_keys.member_id
    join orgs on orgs.customer_id = api_keys.customer_id and orgs.id = api_keys.org_id
    left join orgs as recent on recent.id = any (${null}::uuid[])
    where api_keys.prefix = any (${null}::text[])`.compile(database.reads);

  const findKeys = async (prefixes: readonly string[]): Promise<Map<string, FoundKey>> => {
    const [only, other] = prefixes;
    if (only === undefined) return new Map();
    // Of several keys, those of each would be read for all.
    const recent = other === undefined ? recentOrgs.of(only) : [];
    const readAt = performance.now();
    const rows = await database.readPrepared<KeyRow>("find_api_keys", text, [recent, prefixes]);
    const found = new Map<string, FoundKey>();
    for (const row of rows) {
      const { recent: others } = found.get(row.prefix) ?? { recent: [] };
      found.set(row.prefix, { ...row, readAt, recent: [...others, ...recentHeadsOf(row, row.now, readAt)] });
    }
    return found;
  };

  return createBatcher(async (secrets) => {
    const prefixes = new Map([...new Set(secrets)].map((secret) => [secret, parseApiKey(secret)]));
    const keys = await findKeys([...new Set(prefixes.values())].filter((prefix) => prefix !== undefined));
    const callers = new Map<string, Caller | RefusedKey | "invalid">();
    for (const [secret, prefix = ""] of prefixes) callers.set(secret, callerOf(secret, keys.get(prefix)));
    return secrets.map((secret) => callers.get(secret) ?? "invalid");
  });
}

function callerOf(secret: string, key: FoundKey | undefined): Caller | RefusedKey | "invalid" {
  if (key === undefined || !isSameHash(key.hash, hashApiKey(secret))) return "invalid";
  const holder = { memberId: key.member_id, orgId: key.org_id, credentialId: key.id };
  if (!key.active) return { ...holder, refusal: "member not active" };
  if (key.expire_time !== null && key.expire_time.getTime() <= key.now) return { ...holder, refusal: "expired" };
  return {
    ...holder,
    customerId: key.customer_id,
    credentialExpireTime: key.expire_time,
    grantsUntil: key.grants_until,
    clientId: key.prefix,
    scopes: key.scopes ?? undefined,
    projectId: undefined,
    allowedAddresses: key.allowed_addresses ?? undefined,
    impersonator: undefined,
    token: undefined,
    orgHead: { revision: key.org_revision, readAt: key.readAt },
    recentHeads: key.recent,
    time: key.now,
  };
}
