// The links that confirm contacts.
import { type Kysely, sql } from "kysely";
import { clockMs } from "../../database/clock.ts";
import type { ContactKind } from "../../database/contact-tables.ts";
import { type OrgKey, isLogOfCustomer } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import type { SecretHandle } from "../../identity/secret-handle.ts";
import { hashAddress } from "../mails/hash-address.ts";
import type { MailedLinks } from "../mails/mailed-links.ts";
import type { ContactParent } from "./parent.ts";

/** How long a link works. */
export const linkSeconds = 7 * 86_400;

export const contactLinks: MailedLinks = {
  table: "contact_links",
  owner: "contact_id",
  seconds: linkSeconds,
  called: "confirmations",
};

/** A contact that can be confirmed with a link. */
export interface OpenLink {
  /** The key of its org, or that of its customer in the place of one. */
  readonly key: OrgKey;
  readonly parent: ContactParent;
  readonly contact_id: string;
  readonly email: string;
  readonly kinds: readonly ContactKind[];
}

interface FoundLink extends Pick<OpenLink, "contact_id" | "email" | "kinds"> {
  readonly customer_id: string;
  readonly org_id: string;
  readonly name: string;
  readonly display_name: string;
  readonly address_hash: Buffer;
  readonly expire_time: Date;
  readonly now: number;
}

/** Returns the contact of a secret; undefined if it is void or used, has ended, or was for another address. */
export async function readOpenLink(
  db: Kysely<Schema>,
  { id, hash, customerId }: SecretHandle,
): Promise<OpenLink | undefined> {
  const { rows } = await sql<FoundLink>`
    select contacts.customer_id, contacts.org_id, coalesce(orgs.name, customers.name) as name,
      coalesce(orgs.display_name, customers.display_name) as display_name, contacts.id as contact_id, contacts.email, contacts.kinds,
      contact_links.address_hash, contact_links.expire_time, ${clockMs} as now
    from contact_links
    join contacts on contacts.customer_id = contact_links.customer_id and contacts.org_id = contact_links.org_id
      and contacts.id = contact_links.contact_id and contacts.confirm_time is null
    left join orgs on orgs.customer_id = contacts.org_customer_id and orgs.id = contacts.org_id
      and orgs.delete_time is null and orgs.state = 'ACTIVE'
    left join customers on customers.id = contacts.parent_customer_id and customers.delete_time is null
    where (orgs.id is not null or customers.id is not null) and contact_links.customer_id = ${customerId} and contact_links.id = ${id} and contact_links.hash = ${hash}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined || row.expire_time.getTime() <= row.now) return undefined;
  const { org_id: parentId, contact_id, email, kinds, name, display_name: displayName } = row;
  if (!hashAddress(parentId, email).equals(row.address_hash)) return undefined;
  const key = { customer_id: row.customer_id, id: parentId };
  const kind = isLogOfCustomer(key) ? "customer" : "org";
  return { key, parent: { kind, name, displayName }, contact_id, email, kinds };
}
