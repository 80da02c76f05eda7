import { type CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { FoundAuthor, LockedOrg } from "../changes/author.ts";
import type { Schema } from "../database/schema.ts";
import { ServiceError } from "../errors/service-error.ts";
import { isActiveMember } from "./caller-lookup.ts";
import type { Caller } from "./caller.ts";
import { recentColumns, recentHeadsOf } from "./recent-heads.ts";
import type { AccessToken } from "./tokens/access-token.ts";
import { clockMs } from "../database/clock.ts";

type Found = FoundAuthor[number];

/**
 * Reads again what the authentication of a call has read, in the transaction of a write that has its locks. Reads nothing if
 * the write has locked the caller's own org and nothing has changed there, or another write under the same lock has read it.
 *
 * @param found what `selectCaller` has read under the lock; undefined to read it.
 * @throws ServiceError TOKEN_INVALID when the API key or token is no longer valid, or the key has a limit that the call did not see: a failover
 *   can lose the confirmation of a key.
 */
export async function refreshCaller(
  db: Kysely<Schema>,
  caller: Caller,
  locked: LockedOrg | undefined,
  found?: FoundAuthor,
): Promise<Caller> {
  const { orgId, orgHead } = caller;
  const endTime = Math.min(caller.credentialExpireTime?.getTime() ?? Infinity, caller.token?.expireTime ?? Infinity);
  // A snapshot that was read before the lock is used only if it is at the lock's revision.
  const readAt = performance.now();
  const clientOrgId = caller.token?.clientOrgId ?? orgId;
  const own = locked?.id === orgId && clientOrgId === orgId ? locked : undefined;
  const credential = caller.token === undefined ? `${caller.credentialId} ${caller.grantsUntil}` : caller.token.id;
  if (own !== undefined && (own.revision === orgHead.revision || own.confirmed?.has(credential))) {
    const { revision, lockTime } = own;
    if (endTime <= lockTime.getTime()) throw invalid();
    // What was read of other orgs before the lock does not decide under it.
    return { ...caller, recentHeads: [], orgHead: { revision, readAt }, time: lockTime.getTime() };
  }
  const elsewhere = locked?.id === orgId ? undefined : locked?.id;
  const [row] = found ?? (await db.executeQuery(selectCaller(db, caller, elsewhere))).rows;
  if (row === undefined) throw invalid();
  // That of a key may have changed since the call was authenticated.
  if (Math.min(caller.token?.expireTime ?? Infinity, row.end_time?.getTime() ?? Infinity) <= row.now) throw invalid();
  own?.confirmed?.add(credential);
  const recentHeads = recentHeadsOf(row, row.now, readAt);
  return { ...caller, recentHeads, orgHead: { revision: row.revision, readAt }, time: row.now };
}

/**
 * Returns the statement that reads the credential of a call, when it ends, and the org of its caller. It has no rows if the credential
 * was deleted or revoked.
 *
 * @param elsewhere the id of the org that the call is about, if it is not the caller's: its head is read, too.
 */
export function selectCaller(db: Kysely<Schema>, caller: Caller, elsewhere?: string): CompiledQuery<Found> {
  const joined = sql`left join orgs as recent on recent.id = ${elsewhere ?? null}::uuid`;
  return caller.token === undefined
    ? selectKey(db, caller, joined)
    : selectToken(db, caller.customerId, caller.token, joined);
}

function selectKey(
  db: Kysely<Schema>,
  { memberId, customerId, orgId, credentialId, grantsUntil }: Caller,
  joined: RawBuilder<unknown>,
): CompiledQuery<Found> {
  return sql<Found>`
    select orgs.revision, ${clockMs} as now, api_keys.expire_time as end_time, ${recentColumns}
    from api_keys
    join members on members.customer_id = api_keys.customer_id and members.org_id = api_keys.org_id
      and members.id = api_keys.member_id
    join orgs on orgs.customer_id = api_keys.customer_id and orgs.id = api_keys.org_id
    ${joined}
    where api_keys.customer_id = ${customerId} and api_keys.org_id = ${orgId} and api_keys.member_id = ${memberId} and api_keys.id = ${credentialId}
      and ${isActiveMember}
      and (api_keys.grants_until is null or api_keys.grants_until = ${grantsUntil}::uuid)`.compile(db);
}

function selectToken(
  db: Kysely<Schema>,
  customerId: string,
  { id, orgId, memberId, sessionId, clientId, clientOrgId, gen, impersonator, exchangedFrom }: AccessToken,
  joined: RawBuilder<unknown>,
): CompiledQuery<Found> {
  const endedIds = [
    id,
    sessionId,
    ...exchangedFrom,
    ...(impersonator?.tokenId === undefined ? [] : [impersonator.tokenId]),
  ];
  return sql<Found>`
    select orgs.revision, ${clockMs} as now, (
      select min(end_time) from ended_tokens
      where customer_id = ${customerId} and org_id = ${orgId} and id = any(${endedIds}::uuid[]) and type = 'Rotation'
    ) as end_time, ${recentColumns}
    from members join orgs on orgs.customer_id = members.customer_id and orgs.id = members.org_id
    ${joined}
    where members.customer_id = ${customerId} and members.org_id = ${orgId} and members.id = ${memberId} and ${isActiveMember}
      and members.token_gen is not distinct from ${gen}::uuid
      and (
        ${impersonator?.memberId ?? null}::uuid is null
        or exists (
          select from members
          where customer_id = ${customerId} and org_id = ${orgId} and id = ${impersonator?.memberId ?? null} and state = 'ACTIVE' and delete_time is null
            and token_gen is not distinct from ${impersonator?.gen ?? null}::uuid
        )
      )
      and not exists (
        select from ended_tokens
        where customer_id = ${customerId} and org_id = ${orgId} and id = any(${endedIds}::uuid[]) and type <> 'Rotation'
      )
      and not exists (
        select from ended_tokens
        where org_id = ${clientOrgId ?? null}::uuid and id = ${clientOrgId === undefined ? null : clientId}::uuid
      )`.compile(db);
}

function invalid(): ServiceError {
  const message = "the bearer token is no longer valid: while the call waited, it expired, or was deleted or revoked";
  return new ServiceError("TOKEN_INVALID", message);
}
