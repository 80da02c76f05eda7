import { CustomerSchema, CustomersService } from "../../../gen/iam/v1alpha/customer_pb.ts";
import { customerLevel } from "../../database/match-reference.ts";
import { patterns } from "../../paths/patterns.ts";
import { defineResource } from "../../standard-methods/definition/definition.ts";
import { customerPath, toCustomer } from "./message.ts";
import { type CustomerRow, customerColumns, selectCustomers } from "./store.ts";

export const customerDefinition = defineResource<"customers", CustomerRow, typeof CustomerSchema>({
  type: "Customer",
  service: CustomersService,
  schema: CustomerSchema,
  label: { one: "customer", many: "customers" },
  places: [{ pattern: patterns.Customer, parents: [] }],
  storage: {
    table: "customers",
    key: ["id"],
    id: "id",
    columns: customerColumns,
    // As those of orgs.
    unread: ["revision", "revision_time", "chain_revision", "chain_start", "chain_hash"],
    select: selectCustomers,
    called: customerLevel,
    references: [],
    countedBy: undefined,
    labels: "indexed",
    nameConstraints: ["customers_name_key"],
  },
  toMessage: toCustomer,
  pathOf: customerPath,
  logged: { joinedById: () => ({}) },
  fields: {},
  lifecycle: { states: [], contents: "locked", deletedNames: "reserved" },
  limit: undefined,
  responses: { neverRevalidated: "No head that is read with the key of a call tells whether a customer has changed." },
  access: {
    namedIn: "unnamed",
    heldBy: {},
    // The role `admin` reads customers, as `viewer` does: otherwise it could not grant the role `viewer`.
    notByAdmin: ["update", "delete", "undelete", "purge"],
  },
});
