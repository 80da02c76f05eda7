import { sql } from "kysely";
import { inTransaction } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { createSecretHandle, parseSecretHandle } from "../../identity/secret-handle.ts";
import { deleteExpired } from "./store.ts";

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
  const { id, text, hash } = createSecretHandle();
  return inTransaction(database, async (db) => {
    await deleteExpired(db, "sign_in_links");
    const expireTime = sql<Date>`clock_timestamp() + make_interval(secs => ${lifeSeconds})`;
    await db
      .insertInto("sign_in_links")
      .values({ id, hash, org_id: orgId, member_id: memberId, expire_time: expireTime })
      .execute();
    return text;
  });
}

/**
 * Uses up a code, and returns its member.
 *
 * @throws ServiceError GRANT_INVALID for any text that is no code, and for a code that was used or has expired.
 */
export async function redeemSignInLink(database: Database, code: string): Promise<MemberKey> {
  const handle = parseSecretHandle(code);
  const row =
    handle &&
    (await database.writes
      .deleteFrom("sign_in_links")
      .where("id", "=", handle.id)
      .where("hash", "=", handle.hash)
      .where("expire_time", ">", sql<Date>`clock_timestamp()`)
      .returning(["org_id", "member_id"])
      .executeTakeFirst());
  if (row !== undefined) return { orgId: row.org_id, memberId: row.member_id };
  throw new ServiceError("GRANT_INVALID", "the code is not valid: it is mistyped, was used, or is older than an hour");
}
