// The links of invitations: each is a row, also when it is void or used, so that mails are counted by them. Of a secret, only a hash is stored.
import type { Kysely } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { secondsAfter } from "../../database/clock.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { createSecretHandle } from "../../identity/secret-handle.ts";
import { hashAddress } from "./email.ts";

/** The longest time from now at which an invitation expires, and for which a link works. */
export const maxInvitationSeconds = 30 * 86_400;

/** A member that is invited, with its address. */
export interface Invited {
  readonly id: string;
  readonly email: string;
}

/**
 * Makes a link for a member, under the lock of its org. Links from before are void.
 *
 * @param isMailed whether it is to be sent.
 * @returns the id of its row, and the secret.
 */
export async function insertInvitation(
  { db, org }: OrgTransaction,
  { id: memberId, email }: Invited,
  isMailed: boolean,
): Promise<{ readonly id: string; readonly secret: string }> {
  await db
    .updateTable("invitations")
    .set({ hash: null })
    .where(isInOrgOf("invitations", org))
    .where("member_id", "=", memberId)
    .where("hash", "is not", null)
    .execute();
  const { id, text, hash } = createSecretHandle();
  await db
    .insertInto("invitations")
    .values({
      id,
      customer_id: org.customer_id,
      org_id: org.id,
      member_id: memberId,
      hash,
      address_hash: hashAddress(org.id, email),
      mail: isMailed ? "SENDING" : "NONE",
      send_time: org.lockTime,
      expire_time: secondsAfter(org.lockTime, maxInvitationSeconds),
    })
    .execute();
  return { id, secret: text };
}

/** Voids the links of a member, under the lock of its org. */
export async function voidInvitations({ db, org }: OrgTransaction, memberId: string): Promise<void> {
  await db
    .updateTable("invitations")
    .set({ hash: null })
    .where(isInOrgOf("invitations", org))
    .where("member_id", "=", memberId)
    .execute();
}

/** Notes that a mail server has taken the mail with a link. */
export async function noteMailSent(db: Kysely<Schema>, org: OrgKey, id: string): Promise<void> {
  await db
    .updateTable("invitations")
    .set({ mail: "SENT" })
    .where(isInOrgOf("invitations", org))
    .where("id", "=", id)
    .execute();
}
