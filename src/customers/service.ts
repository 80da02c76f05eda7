import type { ServiceImpl } from "@connectrpc/connect";
import { CustomerSchema, CustomersService } from "../../gen/iam/v1alpha/customer_pb.ts";
import { type OrgTransaction, writeInOrg } from "../changes/write-in-org.ts";
import { ServiceError } from "../errors/service-error.ts";
import { orgChange } from "../orgs/message.ts";
import { deleteOrg, findOrg, liveOrgsOf } from "../orgs/store.ts";
import type { Reference } from "../paths/resource-path.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { required } from "../resource/required.ts";
import type { ResourceDependencies } from "../resource/standard-methods.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { customerPath, toCustomer } from "./message.ts";
import {
  type CustomerRow,
  deleteCustomer,
  findCustomer,
  lockCustomer,
  readCustomersPage,
  selectCustomers,
  updateCustomer,
} from "./store.ts";

import { customerFields } from "./fields.ts";

export function createCustomersService(dependencies: ResourceDependencies): ServiceImpl<typeof CustomersService> {
  const { database, installation } = dependencies;
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
    remove: (transaction, row) => deleteWithOrgs(transaction, row, installation.systemOrgId),
    explain: (error, customer) => explainNameTaken(error, "customers_name_key", "customer", customer),
  });
}

async function deleteWithOrgs(
  { db, revision, author }: OrgTransaction,
  row: CustomerRow,
  systemOrgId: string,
): Promise<CustomerRow> {
  await lockCustomer(db, { by: "id", value: row.id });
  for (const { id } of await liveOrgsOf(db, row.id)) {
    if (id === systemOrgId) throw systemCustomerProtected();
    const path: Reference[] = [{ by: "id", value: id }];
    await writeInOrg(db, { by: "id", value: id }, author, async (transaction) => {
      const before = required(await findOrg(db, path));
      transaction.record(orgChange(before, await deleteOrg(db, before, transaction.revision)));
    });
  }
  return deleteCustomer(db, row.id, revision);
}

function systemCustomerProtected(): ServiceError {
  const message = "the customer that holds the org of this installation's operator cannot be deleted";
  return new ServiceError("OPERATOR_PROTECTED", message);
}
