import type { ServiceImpl } from "@connectrpc/connect";
import { CustomerSchema, CustomersService } from "../../gen/iam/v1alpha/customer_pb.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import type { ResourceDependencies } from "../resource/resource.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { changeOrgsOf } from "./customer-orgs.ts";
import { customerFields } from "./fields.ts";
import { customerPath, toCustomer } from "./message.ts";
import { type CustomerRow, findCustomer, readCustomersPage, selectCustomers, updateCustomer } from "./store.ts";

export function createCustomersService(dependencies: ResourceDependencies): ServiceImpl<typeof CustomersService> {
  const { database, installation, retentionDays } = dependencies;
  const customerOrgs = { systemOrgId: installation.systemOrgId, retentionDays };
  return createStandardService(CustomersService, dependencies, {
    type: "Customer",
    label: "customer",
    schema: CustomerSchema,
    toMessage: toCustomer,
    pathOf: customerPath,
    idOf: (row: CustomerRow) => row.id,
    logged: (row) => row,
    fields: customerFields,
    uniqueKey: ["customers.id"],
    lookup: createPathLookup(database, "customers", ["customers"], selectCustomers(database.reads)),
    resolveParent: (parent) => Promise.resolve(parent),
    // Customers are in no org; their changes are in the log of the installation's own.
    scope: { by: "id", value: installation.systemOrgId },
    readPage: readCustomersPage,
    find: findCustomer,
    update: ({ db, revision }, row, customer) => updateCustomer(db, row.id, customer, revision),
    lifecycle: {
      table: "customers",
      accompany: (transaction, row, transition) => changeOrgsOf(transaction, row, transition, customerOrgs),
    },
    explain: (error, customer) => explainNameTaken(error, "customers_name_key", "customer", customer),
  });
}
