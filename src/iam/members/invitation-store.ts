// The links of invitations: each is a row, also when it is void or used, so that mails are counted by them. Of a secret, only a hash is stored.
import { type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { secondsAfter } from "../../database/clock.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { createSecretHandle } from "../../identity/secret-handle.ts";
import { hashAddress } from "./email.ts";

/** The longest time from now at which an invitation expires, and for which a link works. */
export const maxInvitationSeconds = 30 * 86_400;

const mailLimits = { toAddress: 5, secondsApart: 60 } as const;

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

/** How many mails were sent, and when. */
interface Sent {
  readonly count: number;
  readonly first: Date | null;
  readonly to_address: number;
  readonly oldest: Date | null;
  readonly last: Date | null;
}

/**
 * Checks that the org may send another mail to an address. Those that failed count, too: the mail server was asked to send them.
 *
 * @param perHour the maximum number of mails of an org in an hour.
 * @throws ServiceError RATE_LIMITED
 */
export async function requireMayMail({ db, org }: OrgTransaction, email: string, perHour: number): Promise<void> {
  const now = org.lockTime;
  const [hourAgo, dayAgo] = [secondsAfter(now, -3_600), secondsAfter(now, -86_400)];
  const isMail = sql`${isInOrgOf("invitations", org)} and mail <> 'NONE'`;
  const { rows } = await sql<Sent>`
    select of_org.count, of_org.first, to_address.count as to_address, to_address.first as oldest, to_address.last
    from (select count(*)::int as count, min(send_time) as first from invitations where ${isMail} and send_time > ${hourAgo}) as of_org
    cross join (
      select count(*)::int as count, min(send_time) as first, max(send_time) as last from invitations
      where ${isMail} and address_hash = ${hashAddress(org.id, email)} and send_time > ${dayAgo}
    ) as to_address`.execute(db);
  const { count = 0, first = null, to_address: toAddress = 0, last = null, oldest = null } = rows[0] ?? {};
  if (count >= perHour) {
    throw limited(now, secondsAfter(first ?? now, 3_600), `an org sends at most ${perHour} invitations an hour`);
  }
  if (toAddress >= mailLimits.toAddress) {
    const rule = `an org sends at most ${mailLimits.toAddress} invitations to an address on a day`;
    throw limited(now, secondsAfter(oldest ?? now, 86_400), rule);
  }
  const next = last === null ? now : secondsAfter(last, mailLimits.secondsApart);
  if (next > now) {
    throw limited(
      now,
      next,
      `an org sends invitations to an address at least ${mailLimits.secondsApart} seconds apart`,
    );
  }
}

function limited(now: Date, next: Date, rule: string): ServiceError {
  const retryAfterMs = Math.max(next.getTime() - now.getTime(), 1_000);
  return new ServiceError("RATE_LIMITED", `${rule}: send it after ${next.toISOString()}`, {
    retryAfterMs,
    quotas: [{ subject: "org", description: rule }],
  });
}
