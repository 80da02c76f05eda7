// Warnings whose recipients are fixed in the transaction of what they are about: access that begins without a decision. Whoever begins it may delete contacts,
// and change names, before a mail is sent.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { type DueWarning, fixedKind, recipients } from "./warning-kinds.ts";

/** How long addresses are kept of which no mail server takes the mail. */
const kept = sql`interval '1 day'`;

/** Access that a member has begun. */
interface Begun {
  /** The id of the access request. */
  readonly id: string;
  readonly memberId: string;
  readonly endTime: Date;
}

/** Fixes which contacts are told of access that begins. The pause before another attempt is over from the start. */
export async function fixWarnings({ db, org, time }: OrgTransaction, { id, memberId, endTime }: Begun): Promise<void> {
  await sql`
    insert into contact_warnings
      (customer_id, org_id, contact_id, kind, subject_id, occasion, attempts, attempt_time, is_sent, expire_time,
        email, contact_name, subject_name, end_time)
    select contacts.customer_id, contacts.org_id, contacts.id, ${fixedKind}, ${id}::uuid, ${time}::timestamptz, 0, to_timestamp(0), false,
      ${time}::timestamptz + ${kept}, contacts.email, contacts.name, members.name, ${endTime}::timestamptz
    from contacts join members on members.customer_id = contacts.customer_id and members.org_id = contacts.org_id and members.id = ${memberId}
    where ${isInOrgOf("contacts", org)} and contacts.confirm_time is not null and contacts.kinds && ${recipients[fixedKind]}::text[]`.execute(
    db,
  );
}

/** Reads the warnings of an org that were fixed and are not sent. */
export async function readFixedWarnings(
  db: Kysely<Schema>,
  org: OrgKey,
  {
    maxAttempts,
    before,
    limit,
  }: { readonly maxAttempts: number; readonly before: RawBuilder<unknown>; readonly limit: number },
): Promise<readonly DueWarning[]> {
  const { rows } = await sql<DueWarning>`
    select contact_id, email, contact_name, kind, subject_id, subject_name, null as member_name, occasion, end_time
    from contact_warnings
    where ${isInOrgOf("contact_warnings", org)} and email is not null and attempts < ${maxAttempts} and attempt_time <= ${before}
    order by occasion, contact_id, subject_id limit ${limit}`.execute(db);
  return rows;
}
