import { ContactSchema, ContactsService } from "../../../gen/iam/v1alpha/contact_pb.ts";
import { scalar, text } from "../../filters/filter-fields.ts";
import { byId, orgById } from "../../paths/format-path.ts";
import { defineResource, levelOf } from "../../standard-methods/definition/definition.ts";
import { contactPath, toContact } from "./message.ts";
import { contactPlaces } from "./places.ts";
import { contactColumns, hasContactAddress, selectContacts } from "./store.ts";

export const contactDefinition = defineResource({
  type: "Contact",
  service: ContactsService,
  schema: ContactSchema,
  label: { one: "contact", many: "contacts" },
  places: [contactPlaces.org, contactPlaces.customer],
  storage: {
    table: "contacts",
    key: ["org_id", "id"],
    id: "id",
    columns: contactColumns,
    unread: ["org_customer_id"],
    select: selectContacts,
    called: levelOf("contacts", false),
    references: [
      { column: "org_id", to: "Org", customer: "org_customer_id", onDelete: "cascade" },
      { column: "parent_customer_id", to: "Customer", onDelete: "cascade" },
    ],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["contacts_name_key"],
  },
  toMessage: toContact,
  pathOf: contactPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      customer_name: byId(row.parent_customer_id),
      customer_delete_time: null,
    }),
  },
  fields: {
    email: text("contacts.email", { equals: hasContactAddress }),
    confirm_time: scalar("timestamp", "contacts.confirm_time"),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_CONTACTS_PER_ORG",
    default: 20,
    max: 1_000,
    help: "How many contacts an org may have, and a customer itself.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: ["erase"] },
});
