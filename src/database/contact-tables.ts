import type { ColumnType } from "kysely";
import type { NamedColumns } from "./shared-columns.ts";

// The tables of contacts, as Kysely and pg read them.

/** @public */
export interface Contacts extends NamedColumns {
  customer_id: string;
  /** That of the customer, for a contact of a customer. */
  org_id: string;
  /** The customer of the org; null for a contact of a customer, so that the reference to an org does not hold for it. */
  org_customer_id: ColumnType<string | null, never, never>;
  /** The customer of a contact of a customer; null for one of an org. */
  parent_customer_id: ColumnType<string | null, string | null | undefined, never>;
  /** As it was given. */
  email: string;
  /** What it is for, each once, in the order of the proto. */
  kinds: ContactKind[];
  /** When the address was confirmed; null while it is not. */
  confirm_time: Date | null;
}

export type ContactKind = "BILLING" | "SECURITY" | "TECHNICAL";

/** The links that confirm contacts, also those that are void or used by now: mails are counted by them. @public */
export interface ContactLinks {
  id: string;
  customer_id: string;
  org_id: string;
  contact_id: string;
  /** The SHA-256 of the secret in the link; null for one that is void or used. */
  hash: Buffer | null;
  /** The SHA-256 of the org or customer and the address, for which the link is: another address of the contact voids it. */
  address_hash: Buffer;
  /** Whether the link was sent: a mail server has taken it, or was asked to. */
  mail: "NONE" | "SENDING" | "SENT";
  send_time: ColumnType<Date, Date | string, never>;
  expire_time: ColumnType<Date, Date | string, never>;
}

/** The warnings that contacts were sent, or are being sent. @public */
export interface ContactWarnings {
  customer_id: string;
  org_id: string;
  contact_id: string;
  kind: string;
  /** What it is about, such as an API key. */
  subject_id: string;
  /** Tells it apart from another one about the same, such as one about an earlier end. */
  occasion: ColumnType<Date, Date | string, never>;
  /** How often it was tried to send it. */
  attempts: number;
  attempt_time: Date;
  is_sent: boolean;
  /** Whom and what it is about, where that was fixed before it is sent: null otherwise, and once it is. */
  email: string | null;
  contact_name: string | null;
  subject_name: string | null;
  end_time: Date | null;
  /** When the row is of no use any longer. */
  expire_time: ColumnType<Date, Date | string, never>;
}

/** @public */
export interface ContactTables {
  contacts: Contacts;
  contact_links: ContactLinks;
  contact_warnings: ContactWarnings;
}
