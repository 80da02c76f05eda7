// What contacts are warned about, and which of them: one table.
import type { ContactKind } from "../../database/contact-tables.ts";

export type WarningKind =
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
  API_KEY_ENDS: ["TECHNICAL"],
  WEBHOOK_DISABLED: ["TECHNICAL"],
  EVENT_STREAM_DISABLED: ["SECURITY", "TECHNICAL"],
  ORG_SUSPENDED: ["BILLING", "SECURITY", "TECHNICAL"],
  ORG_DELETED: ["BILLING", "SECURITY", "TECHNICAL"],
  CUSTOMER_DELETED: ["BILLING", "SECURITY", "TECHNICAL"],
};

/** How long before its end an API key is warned about that was made for twice as long, and for how long after it something is. */
export const warnedDays = 7;
