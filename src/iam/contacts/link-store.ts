// The links that confirm contacts.
import { type Kysely, sql } from "kysely";
import { clockMs } from "../../database/clock.ts";
import type { ContactKind } from "../../database/contact-tables.ts";
import type { Schema } from "../../database/schema.ts";
import type { SecretHandle } from "../../identity/secret-handle.ts";
import { hashAddress } from "../mails/hash-address.ts";
import type { MailedLinks } from "../mails/mailed-links.ts";

/** How long a link works. */
export const linkSeconds = 7 * 86_400;

export const contactLinks: MailedLinks = {
  table: "contact_links",
  owner: "contact_id",
  seconds: linkSeconds,
  called: "confirmations",
  namesCustomer: true,
};

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
