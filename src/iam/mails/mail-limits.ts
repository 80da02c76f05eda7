// How many mails with links an org or a customer may send: in an hour, and to an address.
import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { secondsAfter } from "../../database/clock.ts";
import { isInOrgOf, isLogOfCustomer } from "../../database/org-key.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { hashAddress } from "./hash-address.ts";
import type { MailedLinks } from "./mailed-links.ts";

const mailLimits = { toAddress: 5, secondsApart: 60 } as const;

/** How many mails were sent, and when. */
interface Sent {
  readonly count: number;
  readonly first: Date | null;
  readonly to_address: number;
  readonly oldest: Date | null;
  readonly last: Date | null;
}

/**
 * Checks that the org of a write, or the customer in the place of one, may send another mail to an address. Those that failed count, too: the mail server was asked to send them.
 *
 * @param perHour the maximum number of its mails in an hour.
 * @throws ServiceError RATE_LIMITED
 */
export async function requireMayMail(
  { db, org }: OrgTransaction,
  { table, called }: Pick<MailedLinks, "table" | "called">,
  email: string,
  perHour: number,
): Promise<void> {
  const now = org.lockTime;
  const [hourAgo, dayAgo] = [secondsAfter(now, -3_600), secondsAfter(now, -86_400)];
  const isMail = sql`${isInOrgOf(table, org)} and mail <> 'NONE'`;
  const { rows } = await sql<Sent>`
    select of_org.count, of_org.first, to_address.count as to_address, to_address.first as oldest, to_address.last
    from (select count(*)::int as count, min(send_time) as first from ${sql.table(table)} where ${isMail} and send_time > ${hourAgo}) as of_org
    cross join (
      select count(*)::int as count, min(send_time) as first, max(send_time) as last from ${sql.table(table)}
      where ${isMail} and address_hash = ${hashAddress(org.id, email)} and send_time > ${dayAgo}
    ) as to_address`.execute(db);
  const [subject, sender] = isLogOfCustomer(org) ? ["customer", "a customer"] : ["org", "an org"];
  const { count = 0, first = null, to_address: toAddress = 0, last = null, oldest = null } = rows[0] ?? {};
  if (count >= perHour) {
    throw limited(
      now,
      secondsAfter(first ?? now, 3_600),
      subject,
      `${sender} sends at most ${perHour} ${called} an hour`,
    );
  }
  if (toAddress >= mailLimits.toAddress) {
    const rule = `${sender} sends at most ${mailLimits.toAddress} ${called} to an address on a day`;
    throw limited(now, secondsAfter(oldest ?? now, 86_400), subject, rule);
  }
  const next = last === null ? now : secondsAfter(last, mailLimits.secondsApart);
  if (next > now) {
    throw limited(
      now,
      next,
      subject,
      `${sender} sends ${called} to an address at least ${mailLimits.secondsApart} seconds apart`,
    );
  }
}

function limited(now: Date, next: Date, subject: string, rule: string): ServiceError {
  const retryAfterMs = Math.max(next.getTime() - now.getTime(), 1_000);
  return new ServiceError("RATE_LIMITED", `${rule}: send it after ${next.toISOString()}`, {
    retryAfterMs,
    quotas: [{ subject, description: rule }],
  });
}
