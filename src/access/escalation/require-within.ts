// What a credential makes goes no further than the credential: no way to act as a member is made, confirmed or widened by a
// credential that ends earlier, is accepted from fewer addresses, is narrower, or is of a client. `docs/security.md` has the table.
import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { containsPrefix } from "../../identity/address-prefix.ts";

/** A way to act as a member: an API key, or an identity with which it signs in. */
export interface WayToAct {
  /** When it ends; null if it does not. */
  readonly expireTime: Date | null;
  /** The prefixes of the addresses from which it is accepted; null for everywhere. */
  readonly allowedAddresses: readonly string[] | null;
}

/** An identity signs in without an end, from everywhere. */
export const unlimitedWay: WayToAct = { expireTime: null, allowedAddresses: null };

/**
 * Checks that a way to act as a member goes no further than the credential of the call.
 *
 * @param field of the request that says when the way ends; undefined if it does not say so.
 * @throws ServiceError GRANT_EXCEEDS_OWN; FIELD_INVALID for the field.
 */
export type RequireWithin = (way: WayToAct, field?: string) => void;

/**
 * Reads how far the credential of the call goes, under the lock of the org.
 *
 * @returns a function that checks each way to act as a member that the call makes, confirms or widens.
 * @throws ServiceError GRANT_EXCEEDS_OWN for the token of a client, which ends with the client and with what the person allowed it.
 */
export async function createRequireWithin(transaction: OrgTransaction): Promise<RequireWithin> {
  const { allowedAddresses: allowed, isOfClient } = transaction.author;
  if (isOfClient === true) {
    throw exceeds(
      "with the token of a client, nobody can create, confirm or rotate an API key, or create an identity: it would outlive the client; use an API key, or sign in with a browser",
    );
  }
  const end = await readCredentialEnd(transaction);
  return ({ expireTime, allowedAddresses }, field) => {
    if (allowed !== undefined && allowedAddresses?.every((each) => containsPrefix(allowed, each)) !== true) {
      throw exceeds(
        "with an API key or token that has allowed addresses, nobody can create, rotate or confirm an API key that is accepted from other addresses, or create an identity",
        { allowed_addresses: allowed.join(", ") },
      );
    }
    requireAtMost(expireTime, end, field);
  };
}

/**
 * Returns when the API key or session of the call ends; null if it does not. What a person makes who is signed in with a browser
 * outlives the sign-in.
 */
async function readCredentialEnd({ db, author }: OrgTransaction): Promise<Date | null> {
  const { actorOrgId, actorId, credentialExpireTime, origin } = author;
  const isCredential = sql`org_id = ${actorOrgId} and member_id = ${actorId} and id = ${origin.credentialId}`;
  // A rotation can have given the key or session an earlier end than its token says.
  const { rows } = await sql<{ credential_end: Date | null }>`
    select least(${credentialExpireTime}::timestamptz, (select expire_time from api_keys where ${isCredential}),
      (select expire_time from sessions where ${isCredential} and browser_session_id is null)) as credential_end`.execute(
    db,
  );
  return rows[0]?.credential_end ?? null;
}

function requireAtMost(expireTime: Date | null, end: Date | null, field: string | undefined): void {
  if (end === null || (expireTime !== null && expireTime <= end)) return;
  const time = end.toISOString();
  if (field !== undefined) {
    throw invalidField(field, `must be at most ${time}, when the API key of this call expires`, "expire_time");
  }
  throw exceeds(
    `with an API key or session that ends, nobody can confirm an API key that ends later, or create an identity: that of the call ends at ${time}; use one that does not end earlier, or sign in with a browser`,
    { expire_time: time },
  );
}

/**
 * Checks that the author registers a client, or gives one redirect URIs or scopes, with a credential that is neither narrowed nor that
 * of a client: what people allow the client goes further than that.
 *
 * @throws ServiceError GRANT_EXCEEDS_OWN
 */
export function requireMayWidenClients({ author: { narrowing, isOfClient } }: OrgTransaction): void {
  if (narrowing === undefined && isOfClient !== true) return;
  throw exceeds(
    "with a narrowed API key or token, or with the token of a client, nobody can register a client, or give one redirect URIs or scopes that it does not have: use a credential that is not narrowed, or sign in with a browser",
  );
}

/**
 * Checks that the credential of the author has no limit that what it sets up would not have: it is not narrowed, counts all that its
 * member holds, is accepted from everywhere, does not end, and is of no client.
 *
 * @param what nobody can do otherwise: `have a webhook deliver`.
 * @throws ServiceError GRANT_EXCEEDS_OWN
 */
export async function requireUnlimited(transaction: OrgTransaction, what: string): Promise<void> {
  const { narrowing, isOfClient, grantsUntil, allowedAddresses } = transaction.author;
  const isLimited =
    narrowing !== undefined || isOfClient === true || grantsUntil !== null || allowedAddresses !== undefined;
  if (!isLimited && (await readCredentialEnd(transaction)) === null) return;
  throw exceeds(
    `with an API key or token that is narrowed, limited to earlier grants or addresses, or ends, or with the token of a client, nobody can ${what}: use a credential without limits, or sign in with a browser`,
  );
}

function exceeds(rule: string, metadata: Readonly<Record<string, string>> = {}): ServiceError {
  return new ServiceError("GRANT_EXCEEDS_OWN", rule, { metadata });
}
