// Links that are sent by mail to an address, such as those of invitations: each is a row, also when it is void or used, so that mails are
// counted by them. Of a secret, only a hash is stored.
import { type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { secondsAfter } from "../../database/clock.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { createSecretHandle } from "../../identity/secret-handle.ts";
import { hashAddress } from "./hash-address.ts";

/** The links of one kind. */
export interface MailedLinks {
  readonly table: "invitations" | "contact_links";
  /** The column with the id of what a link is for. */
  readonly owner: "member_id" | "contact_id";
  /** How long a link works. */
  readonly seconds: number;
  /** What is in the mails: `invitations`. */
  readonly called: string;
}

/** What a link is for, and the address to which it goes. */
interface Addressed {
  readonly id: string;
  readonly email: string;
}

/** Voids the links of some, under the lock of their org or customer. */
export async function voidLinks(
  { db, org }: OrgTransaction,
  { table, owner }: MailedLinks,
  ownerIds: readonly string[],
): Promise<void> {
  await sql`
    update ${sql.table(table)} set hash = null
    where ${isInOrgOf(table, org)} and ${sql.ref(owner)} = any(${ownerIds}::uuid[]) and hash is not null`.execute(db);
}

/**
 * Makes a link, under the lock of its org or customer. Links to the same from before are void.
 *
 * @param isMailed whether it is to be sent.
 * @returns the id of its row, and the secret.
 */
export async function insertLink(
  transaction: OrgTransaction,
  links: MailedLinks,
  { id: ownerId, email }: Addressed,
  isMailed: boolean,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { db, org } = transaction;
  await voidLinks(transaction, links, [ownerId]);
  const { id, text, hash } = createSecretHandle(org.customer_id);
  const mail = isMailed ? "SENDING" : "NONE";
  await sql`
    insert into ${sql.table(links.table)}
      (id, customer_id, org_id, ${sql.ref(links.owner)}, hash, address_hash, mail, send_time, expire_time)
    values (${id}, ${org.customer_id}, ${org.id}, ${ownerId}, ${hash}, ${hashAddress(org.id, email)}, ${mail}, ${org.lockTime},
      ${secondsAfter(org.lockTime, links.seconds)})`.execute(db);
  return { id, secret: text };
}

/** Notes that a mail server has taken the mail with a link. */
export async function noteLinkSent(db: Kysely<Schema>, { table }: MailedLinks, org: OrgKey, id: string): Promise<void> {
  await sql`update ${sql.table(table)} set mail = 'SENT' where ${isInOrgOf(table, org)} and id = ${id}`.execute(db);
}
