import { type Transaction, sql } from "kysely";
import type { LockedOrg } from "../changes/author.ts";
import type { Schema } from "../database/schema.ts";
import { ServiceError } from "../errors/service-error.ts";
import { isActiveMember } from "./authenticate.ts";
import type { Caller } from "./caller.ts";

interface Found {
  readonly revision: string;
  readonly now: number;
}

/**
 * Reads again what the authentication of a call has read, in the transaction of a write that has its locks. Reads nothing if
 * the write has locked the caller's own org and nothing has changed there.
 *
 * @throws ServiceError TOKEN_INVALID when the API key is no longer valid, or has a limit that the call did not see: a failover
 *   can lose the confirmation of a key.
 */
export async function refreshCaller(
  db: Transaction<Schema>,
  caller: Caller,
  locked: LockedOrg | undefined,
): Promise<Caller> {
  const { memberId, orgId, apiKeyId, keyExpireTime, grantsUntil, orgHead } = caller;
  // A snapshot that was read before the lock is used only if it is at the lock's revision.
  const readAt = performance.now();
  if (locked?.id === orgId && locked.revision === orgHead.revision) {
    const { revision, lockTime } = locked;
    if (keyExpireTime !== null && keyExpireTime <= lockTime) throw invalid();
    return { ...caller, orgHead: { revision, readAt }, time: lockTime.getTime() };
  }
  const { rows } = await sql<Found>`
    select orgs.revision, (extract(epoch from clock_timestamp()) * 1000)::float8 as now
    from api_keys
    join members on members.org_id = api_keys.org_id and members.id = api_keys.member_id
    join orgs on orgs.id = api_keys.org_id
    where api_keys.org_id = ${orgId} and api_keys.member_id = ${memberId} and api_keys.id = ${apiKeyId}
      and (api_keys.expire_time is null or api_keys.expire_time > clock_timestamp()) and ${isActiveMember}
      and (api_keys.grants_until is null or api_keys.grants_until = ${grantsUntil}::uuid)`.execute(db);
  const [found] = rows;
  if (found === undefined) throw invalid();
  return { ...caller, orgHead: { revision: found.revision, readAt }, time: found.now };
}

function invalid(): ServiceError {
  const message = "the bearer token is no longer valid: while the call waited, it expired or was deleted";
  return new ServiceError("TOKEN_INVALID", message);
}
