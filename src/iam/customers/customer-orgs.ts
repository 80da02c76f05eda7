import { lockCustomerById } from "../../changes/lock-customers.ts";
import { type OrgTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { orgPath } from "../orgs/message.ts";
import { liveOrgsOf, orgsDeletedWith, orgsOf } from "../orgs/store.ts";
import { type Transition, stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { required } from "../../errors/required.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import { makeTransitions } from "../../standard-methods/rows/make-transitions.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { followTransition } from "../../standard-methods/write/follow-transition.ts";
import { customerPath } from "./message.ts";
import type { CustomerRow } from "./store.ts";

export interface CustomerOrgs extends Pick<ResourceDependencies, "registry" | "authorHolds" | "retentionDays"> {
  readonly systemOrgId: string;
  /** Whether to delete orgs with resources in them. */
  readonly force: boolean;
}

/**
 * Deletes, undeletes or purges the orgs of a customer together with it. An undelete restores the orgs that were deleted with
 * the customer.
 *
 * @throws ServiceError OPERATOR_PROTECTED for the customer that holds the installation's own org, STATE_FORBIDS when no org is
 *   left to undelete.
 */
export async function changeOrgsOf(
  transaction: OrgTransaction,
  customer: CustomerRow,
  transition: Transition,
  { systemOrgId, ...options }: CustomerOrgs,
): Promise<void> {
  const { db } = transaction;
  // The write has the lock, unless the name that it was asked for has changed hands since.
  lockCustomerById(db, customer.id);
  const orgs = await affectedOrgs(transaction, customer, transition);
  if (orgs.some(({ id }) => id === systemOrgId)) throw systemCustomerProtected();
  for (const { id } of orgs) await changeOrg(transaction, id, transition, options);
}

async function affectedOrgs(transaction: OrgTransaction, customer: CustomerRow, transition: Transition) {
  const { db } = transaction;
  switch (transition) {
    case "delete":
      return liveOrgsOf(db, customer.id);
    case "undelete": {
      const orgs = await orgsDeletedWith(transaction, customer.id);
      if (orgs.length > 0) return orgs;
      const path = customerPath(customer);
      throw stateForbids(
        `the customer ${path} is DELETED, and none of the orgs that were deleted with it can be undeleted`,
        path,
        "DELETED",
      );
    }
    case "purge":
      return orgsOf(db, customer.id);
    case "suspend":
    case "activate":
      return [];
  }
}

async function changeOrg(
  { db, author }: OrgTransaction,
  id: string,
  transition: Transition,
  { force, ...dependencies }: Omit<CustomerOrgs, "systemOrgId">,
): Promise<void> {
  const reference = { by: "id", value: id } as const;
  const change = async (transaction: OrgTransaction): Promise<void> => {
    const before = required(await findRow(db, orgDefinition, [reference]));
    await followTransition(dependencies, transaction, orgDefinition, before, { transition, force });
    const columns = transition === "purge" ? {} : { deleted_with_customer: transition === "delete" };
    const { revision, time } = transaction;
    const target = { db, org: transaction.org, revision, time };
    const making = { transition, retentionDays: dependencies.retentionDays, columns };
    const [after] = (await makeTransitions(target, orgDefinition, [before], making)).rows;
    if (after === undefined) {
      const path = orgPath(before);
      throw stateForbids(`the org ${path} is DELETED, and its purge_time has passed`, path, "DELETED");
    }
    recordChange(transaction, orgDefinition, before, after);
  };
  await writeInOrg(db, { org: reference, state: "any" }, author, change);
}

function systemCustomerProtected(): ServiceError {
  const message = "the customer of the installation's operator cannot be deleted";
  return new ServiceError("OPERATOR_PROTECTED", message);
}
