import { type Contact, Contact_Kind as Kind } from "../../../gen/iam/v1alpha/contact_pb.ts";
import type { ContactKind } from "../../database/contact-tables.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { ContactRow } from "./store.ts";

const kinds: readonly ContactKind[] = ["BILLING", "SECURITY", "TECHNICAL"];

/** @param row whose address is null if it was erased from the log. */
export function toContact(row: Omit<ContactRow, "email"> & { readonly email: string | null }): Contact {
  return {
    $typeName: "iam.v1alpha.Contact",
    path: contactPath(row),
    ...namedFields(row),
    email: row.email ?? "",
    kinds: row.kinds.map((kind) => Kind[kind]),
    confirmTime: toTimestamp(row.confirm_time),
  };
}

export function contactPath(row: Omit<ContactRow, "email">): string {
  const { org_id: id, parent_customer_id: customerId, org_name: orgName, customer_name: customerName } = row;
  if (customerId === id) {
    const customer = pathName({ id, name: customerName ?? "", delete_time: row.customer_delete_time });
    return formatPath(otherPatterns.customerContact, customer, row.name);
  }
  const org = pathName({ id, name: orgName ?? "", delete_time: row.org_delete_time });
  return formatPath(patterns.Contact, org, row.name);
}

/** Returns the kinds as they are stored; without those that are unspecified. */
export const toKindsColumn = (given: readonly Kind[]): ContactKind[] =>
  kinds.filter((kind) => given.includes(Kind[kind]));
