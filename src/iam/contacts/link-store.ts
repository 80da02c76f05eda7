// The links that confirm contacts: each is a row, also when it is void or used, so that mails are counted by them. Of a secret, only a hash
// is stored.
import { type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { clockMs, secondsAfter } from "../../database/clock.ts";
import type { ContactKind } from "../../database/contact-tables.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { type SecretHandle, createSecretHandle } from "../../identity/secret-handle.ts";
import { hashAddress } from "../members/email.ts";
import type { ContactRow } from "./store.ts";

/** How long a link works. */
export const linkSeconds = 7 * 86_400;

/** Voids the links of contacts, under the lock of their org. */
export async function voidLinks({ db, org }: OrgTransaction, contactIds: readonly string[]): Promise<void> {
  await db
    .updateTable("contact_links")
    .set({ hash: null })
    .where(isInOrgOf("contact_links", org))
    .where("contact_id", "in", contactIds)
    .where("hash", "is not", null)
    .execute();
}

/**
 * Makes a link for a contact, under the lock of its org. Links from before are void.
 *
 * @param isMailed whether it is to be sent.
 * @returns the id of its row, and the secret.
 */
export async function insertLink(
  transaction: OrgTransaction,
  { id: contactId, email }: Pick<ContactRow, "id" | "email">,
  isMailed: boolean,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { db, org } = transaction;
  await voidLinks(transaction, [contactId]);
  const { id, text, hash } = createSecretHandle(org.customer_id);
  await db
    .insertInto("contact_links")
    .values({
      id,
      customer_id: org.customer_id,
      org_id: org.id,
      contact_id: contactId,
      hash,
      address_hash: hashAddress(org.id, email),
      mail: isMailed ? "SENDING" : "NONE",
      send_time: org.lockTime,
      expire_time: secondsAfter(org.lockTime, linkSeconds),
    })
    .execute();
  return { id, secret: text };
}

/** Notes that a mail server has taken the mail with a link. */
export async function noteLinkSent(db: Kysely<Schema>, org: OrgKey, id: string): Promise<void> {
  await db
    .updateTable("contact_links")
    .set({ mail: "SENT" })
    .where(isInOrgOf("contact_links", org))
    .where("id", "=", id)
    .execute();
}

/** A contact that can be confirmed with a link. */
export interface OpenLink {
  readonly customer_id: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly org_display_name: string;
  readonly contact_id: string;
  readonly email: string;
  readonly kinds: readonly ContactKind[];
}

/** Returns the contact of a secret; undefined if it is void or used, has ended, or was for another address. */
export async function readOpenLink(
  db: Kysely<Schema>,
  { id, hash, customerId }: SecretHandle,
): Promise<OpenLink | undefined> {
  const { rows } = await sql<
    OpenLink & { readonly address_hash: Buffer; readonly expire_time: Date; readonly now: number }
  >`
    select orgs.customer_id, orgs.id as org_id, orgs.name as org_name, orgs.display_name as org_display_name,
      contacts.id as contact_id, contacts.email, contacts.kinds, contact_links.address_hash, contact_links.expire_time, ${clockMs} as now
    from contact_links
    join orgs on orgs.customer_id = contact_links.customer_id and orgs.id = contact_links.org_id
      and orgs.delete_time is null and orgs.state = 'ACTIVE'
    join contacts on contacts.customer_id = contact_links.customer_id and contacts.org_id = contact_links.org_id
      and contacts.id = contact_links.contact_id and contacts.confirm_time is null
    where contact_links.customer_id = ${customerId} and contact_links.id = ${id} and contact_links.hash = ${hash}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined || row.expire_time.getTime() <= row.now) return undefined;
  return hashAddress(row.org_id, row.email).equals(row.address_hash) ? row : undefined;
}
