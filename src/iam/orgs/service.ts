import type { ServiceImpl } from "@connectrpc/connect";
import { OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { customerDefinition } from "../customers/definition.ts";
import { customerPath } from "../customers/message.ts";
import { invoiceColumns } from "../customers/invoice-fields.ts";
import { lockCustomer } from "../customers/store.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type Transition, stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { limitExceeded } from "../../standard-methods/definition/limits.ts";
import { required } from "../../errors/required.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { explainReservedName } from "../../standard-methods/write/explain-reserved-name.ts";
import { createOrgs } from "./create-org.ts";
import { createSupportSwitch } from "./support-switch.ts";
import { orgDefinition } from "./definition.ts";
import { orgPath, policyColumns, toOrg } from "./message.ts";
import { requireMaySetApprovals } from "./require-may-set-approvals.ts";
import { type OrgRow, liveOrgsOf } from "./store.ts";

export function createOrgsService(dependencies: ResourceDependencies): ServiceImpl<typeof OrgsService> {
  const { installation, limits, escalation } = dependencies;

  const beforeTransition = async ({ db }: OrgTransaction, row: OrgRow, transition: Transition): Promise<void> => {
    if (row.id === installation.systemOrgId) throw systemOrgProtected();
    if (transition !== "delete" && transition !== "undelete") return;
    // The customer was locked before the org. In between, the path may have become that of another org.
    const customer = required(await lockCustomer(db, { by: "id", value: row.customer_id }));
    const siblings = await liveOrgsOf(db, row.customer_id);
    if (transition === "delete") {
      if (siblings.length === 1) throw lastOrg(row);
      return;
    }
    const path = customerPath(customer);
    if (customer.delete_time !== null) {
      throw stateForbids(`the customer ${path} of this org is DELETED: undelete the customer first`, path, "DELETED");
    }
    if (limits.Org !== undefined && siblings.length >= limits.Org) throw limitExceeded(orgDefinition, path, limits.Org);
  };

  const setSupportRequired = createSupportSwitch(dependencies);

  return createStandardService(OrgsService, dependencies, orgDefinition, {
    scope: { kind: "itself" },
    creation: {
      kind: "alone",
      insert: (db, orgs, author, atItem) => createOrgs(db, orgs, author, limits.Org, atItem),
    },
    async change(transaction, row, org) {
      await requireMaySetApprovals(escalation, transaction, row, org);
      await escalation.requireMayRelabel(transaction, { kind: "org", id: row.id }, row.labels, org.labels);
      const switched = await setSupportRequired(transaction, row, org.supportAccessRequired);
      return { ...policyColumns(org), ...invoiceColumns(org), ...switched };
    },
    // Who may suspend or delete an org decides about the org itself, for everybody alike.
    revokes: "nothing",
    beforeTransition,
    // The customer that would have been created together with the org may have the name of another one.
    async mapError(error, { name }, author) {
      if (violatedConstraint(error) !== "customers_name_key") return undefined;
      return (
        (await explainReservedName(dependencies, customerDefinition, author, name)) ?? customerNameTaken(name, error)
      );
    },
  });
}

function customerNameTaken(name: string, cause: unknown): ServiceError {
  const message = `there is already a customer named ${JSON.stringify(name)}; to create the org there, set customer_path to /customers/${name}`;
  return new ServiceError("RESOURCE_EXISTS", message, { metadata: { name }, cause });
}

function systemOrgProtected(): ServiceError {
  const message = "the org of the installation's operator cannot be deleted or suspended";
  return new ServiceError("OPERATOR_PROTECTED", message);
}

function lastOrg(row: OrgRow): ServiceError {
  const [path, customer] = [orgPath(row), toOrg(row).customerPath];
  return new ServiceError(
    "LAST_ORG",
    `the org ${path} is the last one of ${customer}; delete the customer to delete both`,
    { metadata: { resource: path, customer } },
  );
}
