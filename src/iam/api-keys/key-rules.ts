// What API keys must be like: their scopes and allowed addresses, and what their org and the credential of the call require.
import { sql } from "kysely";
import { createRequireWithin } from "../../access/escalation/require-within.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { type ServiceError, invalidField } from "../../errors/service-error.ts";
import { canonicalPrefix } from "../../identity/address-prefix.ts";
import { findGivenScopeProblem } from "../roles/find-scope-problem.ts";

/** How an API key is narrowed, as its row stores it; null for not at all. */
export interface KeyLimits {
  readonly scopes: string[] | null;
  readonly allowed_addresses: string[] | null;
}

/** The fields of a request that errors name. */
interface KeyFields {
  readonly expireTime: string;
  readonly scopes: string;
}

/**
 * Reads the scopes and allowed addresses of a new API key.
 *
 * @param knownPermissions all permissions of this service.
 * @throws ServiceError FIELD_INVALID
 */
export function readKeyLimits(
  { scopes, allowedAddresses }: { readonly scopes: readonly string[]; readonly allowedAddresses: readonly string[] },
  knownPermissions: readonly string[],
): KeyLimits {
  const problem = findGivenScopeProblem(scopes, "a key without scopes has all", knownPermissions);
  if (problem !== undefined) throw invalidField("api_key.scopes", problem, "scope");
  const prefixes = allowedAddresses.map((text, index) => {
    const prefix = canonicalPrefix(text);
    if (prefix !== undefined) return prefix;
    const description = `must be an IP address or a prefix such as 192.0.2.0/24 or 2001:db8::/32, without bits set after its length, got ${JSON.stringify(text.slice(0, 64))}`;
    throw invalidField(`api_key.allowed_addresses[${index}]`, description, "address");
  });
  return {
    scopes: scopes.length === 0 ? null : [...scopes],
    allowed_addresses: prefixes.length === 0 ? null : [...new Set(prefixes)],
  };
}

/**
 * Checks that new API keys are as their org requires, and go no further than the credential of the call, so that a leaked key
 * does not outlive itself.
 *
 * @returns a function that checks a key; its expire time is null if it does not expire.
 * @throws ServiceError FIELD_INVALID, GRANT_EXCEEDS_OWN
 */
export async function createRequireAllowed(
  transaction: OrgTransaction,
  fields: KeyFields,
): Promise<(key: KeyLimits & { readonly expireTime: Date | null }) => void> {
  const { db, org } = transaction;
  const requireWithin = await createRequireWithin(transaction);
  const { rows } = await sql<{ latest: Date | null; scopes_required: boolean | null }>`
    select ${org.lockTime}::timestamptz + make_interval(secs => api_key_max_seconds) as latest,
      api_key_scopes_required as scopes_required
    from orgs where id = ${org.id}`.execute(db);
  const { latest, scopes_required: scopesRequired } = required(rows[0]);
  return ({ expireTime, scopes, allowed_addresses: allowedAddresses }) => {
    requireWithin({ expireTime, allowedAddresses }, fields.expireTime);
    requireAtMost(expireTime, latest, fields.expireTime, "by the api_key_policy of the org");
    if (scopesRequired === true && scopes === null) throw scopesMissing(fields.scopes);
  };
}

function requireAtMost(time: Date | null, latest: Date | null, field: string, why: string): void {
  if (latest === null || (time !== null && time <= latest)) return;
  throw invalidField(field, `must be at most ${latest.toISOString()}, ${why}`, "expire_time");
}

function scopesMissing(field: string): ServiceError {
  return invalidField(field, "must have at least one scope, by the api_key_policy of the org", "scope");
}
