import type { ServiceImpl } from "@connectrpc/connect";
import { CustomersService } from "../../gen/iam/v1alpha/customer_pb.ts";
import type { ResourceDependencies } from "../resource/rules.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { changeOrgsOf } from "./customer-orgs.ts";
import { customerDefinition } from "./definition.ts";

export function createCustomersService(dependencies: ResourceDependencies): ServiceImpl<typeof CustomersService> {
  const { installation, retentionDays } = dependencies;
  const customerOrgs = { systemOrgId: installation.systemOrgId, retentionDays };
  return createStandardService(CustomersService, dependencies, customerDefinition, {
    // Customers are in no org; their changes are in the log of the installation's own.
    scope: { kind: "fixed", org: { by: "id", value: installation.systemOrgId } },
    creation: { kind: "with another" },
    beforeTransition: (transaction, row, transition) => changeOrgsOf(transaction, row, transition, customerOrgs),
  });
}
