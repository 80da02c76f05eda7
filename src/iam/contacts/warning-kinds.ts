// What contacts are warned about, and which of them: one table.
import type { ContactKind } from "../../database/contact-tables.ts";

export type WarningKind =
  | "ACCESS_BEGUN"
  | "API_KEY_ENDS"
  | "WEBHOOK_DISABLED"
  | "EVENT_STREAM_DISABLED"
  | "ORG_SUSPENDED"
  | "ORG_DELETED"
  | "CUSTOMER_DELETED";

/**
 * Which contacts get a warning: those of one of these kinds. Those of a customer are warned of its own webhooks and end, and of the states of its orgs;
 * what is in an org is for the contacts of the org.
 */
export const recipients: Readonly<Record<WarningKind, readonly ContactKind[]>> = {
  ACCESS_BEGUN: ["SECURITY"],
  API_KEY_ENDS: ["TECHNICAL"],
  WEBHOOK_DISABLED: ["TECHNICAL"],
  EVENT_STREAM_DISABLED: ["SECURITY", "TECHNICAL"],
  ORG_SUSPENDED: ["BILLING", "SECURITY", "TECHNICAL"],
  ORG_DELETED: ["BILLING", "SECURITY", "TECHNICAL"],
  CUSTOMER_DELETED: ["BILLING", "SECURITY", "TECHNICAL"],
};

/** Whom it is told is fixed when it happens, so that nobody who has begun access keeps it from being told. It counts in no pause between mails. */
export const fixedKind = "ACCESS_BEGUN" satisfies WarningKind;

/** How long before its end an API key is warned about that was made for twice as long, and for how long after it something is. */
export const warnedDays = 7;

/** Something that a contact is to be warned about. */
export interface DueWarning {
  readonly contact_id: string;
  readonly email: string;
  readonly contact_name: string;
  readonly kind: WarningKind;
  readonly subject_id: string;
  /** The name of what it is about, and of the member that has it, if one does. */
  readonly subject_name: string;
  readonly member_name: string | null;
  readonly occasion: Date;
  /** When an API key ends, or an org or a customer is removed permanently. */
  readonly end_time: Date | null;
}
