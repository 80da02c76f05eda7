import type { ServiceImpl } from "@connectrpc/connect";
import { CustomersService } from "../../../gen/iam/v1alpha/customer_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { changeOrgsOf } from "./customer-orgs.ts";
import { customerDefinition } from "./definition.ts";
import { invoiceColumns } from "./invoice-fields.ts";

export function createCustomersService(dependencies: ResourceDependencies): ServiceImpl<typeof CustomersService> {
  const { installation, registry, retentionDays, authorHolds } = dependencies;
  const customerOrgs = { systemOrgId: installation.systemOrgId, registry, retentionDays, authorHolds };
  return createStandardService(CustomersService, dependencies, customerDefinition, {
    scope: { kind: "customer", locksOf: (logOfCustomer) => ({ logOfCustomer }) },
    creation: { kind: "with another" },
    change: (_transaction, _row, customer) => Promise.resolve(invoiceColumns(customer)),
    revokes: "nothing",
    beforeTransition: (transaction, row, transition, force) =>
      changeOrgsOf(transaction, row, transition, { ...customerOrgs, force }),
  });
}
