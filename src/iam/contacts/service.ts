import type { ServiceImpl } from "@connectrpc/connect";
import { type Contact, type ContactSchema, ContactsService } from "../../../gen/iam/v1alpha/contact_pb.ts";
import type { WriteLocks } from "../../changes/write-locks.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { type OrgKey, isLogOfCustomer } from "../../database/org-key.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedParentColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { completeService, createPlacedHandlers } from "../../standard-methods/standard-service.ts";
import { findEmailProblem, foldEmail } from "../../validation/email-address.ts";
import type { MailDependencies } from "../mails/mail-dependencies.ts";
import { voidLinks } from "../mails/mailed-links.ts";
import { contactDefinition } from "./definition.ts";
import { createEraseContact } from "./erase-contact.ts";
import { contactLinks } from "./link-store.ts";
import { toKindsColumn } from "./message.ts";
import { contactPlaces } from "./places.ts";
import { createSendConfirmation } from "./send-confirmation.ts";
import type { ContactRow } from "./store.ts";

type ContactRules = ResourceRules<"contacts", ContactRow, typeof ContactSchema>;

export function createContactsService(
  dependencies: ResourceDependencies & { readonly mails: MailDependencies },
): ServiceImpl<typeof ContactsService> {
  const definition = contactDefinition;
  const placed = [
    { place: contactPlaces.org, rules: { scope: { kind: "parent" }, ...sharedRules } },
    { place: contactPlaces.customer, rules: { scope: { kind: "customer", locksOf: locksOfCustomer }, ...sharedRules } },
  ] as const;
  const served = placed.map((each) => {
    const reader = dependencies.readers.readerOf(definition, each.place);
    return { definition, ...each, reader, dependencies };
  });
  return completeService(ContactsService, {
    ...createPlacedHandlers(ContactsService, dependencies, definition, placed),
    sendConfirmation: createSendConfirmation(served, dependencies.mails, dependencies.database),
    eraseContact: createEraseContact(served),
  });
}

const locksOfCustomer = (logOfCustomer: Reference): WriteLocks => ({ logOfCustomer });

const sharedRules: Omit<ContactRules, "scope"> = {
  creation: {
    kind: "in org",
    prepare: (transaction, _parents, contacts, atItem) =>
      mapItems(contacts, atItem, (contact) => ({
        columns: { ...parentColumns(transaction.org), ...readOwnColumns(contact), confirm_time: null },
        joined: joinedParentColumns(transaction),
      })),
  },

  async change(transaction, row, contact) {
    const columns = readOwnColumns(contact);
    // Another way to write the same address is the same, as the mail server of a link may have written it.
    if (foldEmail(columns.email) === foldEmail(row.email)) return columns;
    await voidLinks(transaction, contactLinks, [row.id]);
    return { ...columns, confirm_time: null };
  },

  beforeRemove: (transaction, rows) =>
    voidLinks(
      transaction,
      contactLinks,
      rows.map(({ id }) => id),
    ),

  // A contact gives no access.
  revokes: "nothing",

  mapError(error, { email }) {
    if (violatedConstraint(error) !== "contacts_email_key") return undefined;
    const message = `another contact here has the address ${email} already: give it the other kinds, too`;
    return new ServiceError("RESOURCE_EXISTS", message, { metadata: { email }, cause: error });
  },
};

const parentColumns = (parent: OrgKey) => (isLogOfCustomer(parent) ? { parent_customer_id: parent.id } : {});

/** @throws ServiceError FIELD_INVALID */
function readOwnColumns({ email, kinds: given }: Contact) {
  const problem = findEmailProblem(email);
  if (problem !== undefined) {
    throw invalidField("contact.email", `must be an address such as billing@example.com: ${problem}`, "email");
  }
  const kinds = toKindsColumn(given);
  if (kinds.length < given.length || kinds.length === 0) {
    throw invalidField("contact.kinds", "must be one or more of BILLING, SECURITY and TECHNICAL", "kinds");
  }
  return { email, kinds };
}
