import { sql } from "kysely";
import { inTransaction } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type SecretHandle, createSecretHandle, parseSecretHandle } from "../../identity/secret-handle.ts";
import { readClock, secondsAfter } from "../../database/clock.ts";

export interface MemberKey {
  readonly orgId: string;
  readonly memberId: string;
}

/** A member as which a browser is signed in, and the identity by which it is; undefined for a code. */
export interface SignInMember extends MemberKey {
  readonly identityId?: string;
}

const lifeSeconds = 3_600;

/** Creates a code with which a member signs in once, within an hour. */
export function createSignInLink(database: Database, { orgId, memberId }: MemberKey): Promise<string> {
  return inTransaction(database, async (db) => {
    const now = await readClock(db);
    const expireTime = secondsAfter(now, lifeSeconds);
    const { customer_id } = await db
      .selectFrom("orgs")
      .select("customer_id")
      .where("id", "=", orgId)
      .executeTakeFirstOrThrow();
    const { id, text, hash } = createSecretHandle(customer_id);
    await db
      .insertInto("sign_in_links")
      .values({ id, hash, customer_id, org_id: orgId, member_id: memberId, expire_time: expireTime })
      .execute();
    return text;
  });
}

export interface RedeemedMember extends MemberKey {
  /** Its `token_gen` when the code was used up: the sign-in ends with what ends all its tokens. */
  readonly gen: string | null;
}

/**
 * Uses up a code, and returns its member.
 *
 * @throws ServiceError GRANT_INVALID for any text that is no code, and for a code that was used or has expired.
 */
export async function redeemSignInLink(database: Database, code: string): Promise<RedeemedMember> {
  const handle = parseSecretHandle(code);
  const member = handle && (await useLink(database, handle));
  if (member !== undefined) return member;
  throw new ServiceError("GRANT_INVALID", "the code is not valid: it is mistyped, was used, or is older than an hour");
}

async function useLink(
  database: Database,
  { id, hash, customerId }: SecretHandle,
): Promise<RedeemedMember | undefined> {
  const now = await readClock(database.writes);
  const { rows } = await sql<RedeemedMember>`
    delete from sign_in_links using members
    where sign_in_links.customer_id = ${customerId} and sign_in_links.id = ${id} and sign_in_links.hash = ${hash} and sign_in_links.expire_time > ${now}
      and members.customer_id = sign_in_links.customer_id and members.org_id = sign_in_links.org_id
      and members.id = sign_in_links.member_id
    returning members.org_id as "orgId", members.id as "memberId", members.token_gen as gen`.execute(database.writes);
  return rows[0];
}
