import { type Kysely, type Transaction, sql } from "kysely";
import { clockMs } from "../../database/clock.ts";
import type { Schema } from "../../database/schema.ts";
import type { SecretHandle } from "../../identity/secret-handle.ts";
import { hashAddress } from "../mails/hash-address.ts";

/** An invitation that can be accepted, with its member and org. */
export interface OpenInvitation {
  readonly id: string;
  readonly customer_id: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly org_display_name: string;
  readonly member_id: string;
  readonly member_name: string;
  readonly member_display_name: string;
  readonly token_gen: string | null;
  readonly email: string;
  /** Whether a mail server has taken the link: then who has it may have read the mail. */
  readonly is_mailed: boolean;
  readonly invitation_expire_time: Date;
}

interface InvitationRow extends OpenInvitation {
  readonly address_hash: Buffer;
  readonly expire_time: Date;
  readonly now: number;
}

/** Returns the invitation of a secret; undefined if it is void or used, has ended, or was for another address. */
export async function readInvitation(
  db: Kysely<Schema>,
  { id, hash }: SecretHandle,
): Promise<OpenInvitation | undefined> {
  const { rows } = await sql<InvitationRow>`
    select invitations.id, orgs.customer_id, orgs.id as org_id, orgs.name as org_name, orgs.display_name as org_display_name,
      members.id as member_id, members.name as member_name, members.display_name as member_display_name, members.token_gen,
      members.email, invitations.mail = 'SENT' as is_mailed, members.invitation_expire_time,
      invitations.address_hash, invitations.expire_time, ${clockMs} as now
    from invitations
    join orgs on orgs.customer_id = invitations.customer_id and orgs.id = invitations.org_id
      and orgs.delete_time is null and orgs.state = 'ACTIVE'
    join members on members.customer_id = invitations.customer_id and members.org_id = invitations.org_id
      and members.id = invitations.member_id and members.delete_time is null and members.state = 'INVITED'
      and members.email is not null and members.invitation_expire_time is not null
    where invitations.id = ${id} and invitations.hash = ${hash}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const isOpen = Math.min(row.expire_time.getTime(), row.invitation_expire_time.getTime()) > row.now;
  return isOpen && hashAddress(row.org_id, row.email).equals(row.address_hash) ? row : undefined;
}

/** Uses a secret up. Of many at once, exactly one succeeds. @returns whether it did. */
export async function useInvitation(
  db: Transaction<Schema>,
  { customer_id, org_id }: Pick<OpenInvitation, "customer_id" | "org_id">,
  { id, hash }: SecretHandle,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("invitations")
    .set({ hash: null })
    .where("customer_id", "=", customer_id)
    .where("org_id", "=", org_id)
    .where("id", "=", id)
    .where("hash", "=", hash)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** A provider at which an invited person has signed in. */
export interface InvitedAt {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly org_id: string;
  readonly email_trusted: boolean;
}

/**
 * Reads a provider that is in one of some orgs.
 *
 * @param isKept whether it is kept until the end of the transaction.
 */
export async function readProvider(
  db: Kysely<Schema>,
  id: string,
  orgIds: readonly string[],
  isKept: boolean,
): Promise<InvitedAt | undefined> {
  const { rows } = await sql<InvitedAt>`
    select identity_providers.id, identity_providers.name, identity_providers.display_name, identity_providers.org_id,
      identity_providers.email_trusted
    from identity_providers
    join orgs on orgs.customer_id = identity_providers.customer_id and orgs.id = identity_providers.org_id
      and orgs.delete_time is null and orgs.state = 'ACTIVE'
    where identity_providers.id = ${id} and identity_providers.org_id = any(${orgIds}::uuid[])
    ${isKept ? sql`for key share of identity_providers` : sql``}`.execute(db);
  return rows[0];
}

/** An identity of the org with the same provider and subject, or of the same member. */
export interface RelatedIdentity {
  readonly id: string;
  readonly member_id: string;
  readonly member_name: string;
  readonly name: string;
  readonly isSame: boolean;
}

export async function readRelatedIdentities(
  db: Kysely<Schema>,
  { customer_id, org_id, member_id }: Pick<OpenInvitation, "customer_id" | "org_id" | "member_id">,
  { providerId, subject }: { readonly providerId: string; readonly subject: string },
): Promise<RelatedIdentity[]> {
  const isSame = sql<boolean>`identities.provider_id = ${providerId} and identities.subject = ${subject}`;
  const { rows } = await sql<RelatedIdentity>`
    select identities.id, identities.member_id, members.name as member_name, identities.name, (${isSame}) as "isSame"
    from identities
    join members on members.customer_id = identities.customer_id and members.org_id = identities.org_id and members.id = identities.member_id
    where identities.customer_id = ${customer_id} and identities.org_id = ${org_id}
      and ((${isSame}) or identities.member_id = ${member_id})`.execute(db);
  return rows;
}
