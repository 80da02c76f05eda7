import { ContactSchema, ContactsService } from "../../../gen/iam/v1alpha/contact_pb.ts";
import { scalar, text } from "../../filters/filter-fields.ts";
import { orgById } from "../../paths/format-path.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { contactPath, toContact } from "./message.ts";
import { contactColumns, hasContactAddress, selectContacts } from "./store.ts";

export const contactDefinition = defineResource({
  type: "Contact",
  service: ContactsService,
  schema: ContactSchema,
  label: { one: "contact", many: "contacts" },
  places: [placeBelow("Contact", orgDefinition, "org_id")],
  storage: {
    table: "contacts",
    key: ["org_id", "id"],
    id: "id",
    columns: contactColumns,
    unread: [],
    select: selectContacts,
    called: levelOf("contacts", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["contacts_name_key"],
  },
  toMessage: toContact,
  pathOf: contactPath,
  logged: { joinedById: orgById },
  fields: {
    email: text("contacts.email", { equals: hasContactAddress }),
    confirm_time: scalar("timestamp", "contacts.confirm_time"),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_CONTACTS_PER_ORG",
    default: 20,
    max: 1_000,
    help: "How many contacts an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: ["erase"] },
});
