import type { ServiceImpl } from "@connectrpc/connect";
import { CustomersService } from "../../../gen/iam/v1alpha/customer_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { changeOrgsOf } from "./customer-orgs.ts";
import { customerDefinition } from "./definition.ts";

export function createCustomersService(dependencies: ResourceDependencies): ServiceImpl<typeof CustomersService> {
  const { installation, registry, retentionDays, authorHolds } = dependencies;
  const customerOrgs = { systemOrgId: installation.systemOrgId, registry, retentionDays, authorHolds };
  return createStandardService(CustomersService, dependencies, customerDefinition, {
    // Customers are in no org. Their changes are in the change log of the installation's own org.
    scope: { kind: "fixed", org: { by: "id", value: installation.systemOrgId } },
    creation: { kind: "with another" },
    revokes: "nothing",
    beforeTransition: (transaction, row, transition, force) =>
      changeOrgsOf(transaction, row, transition, { ...customerOrgs, force }),
  });
}
