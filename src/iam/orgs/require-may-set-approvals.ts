import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { EscalationGuard } from "../../access/escalation/guard-types.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { OrgRow } from "./store.ts";

/**
 * Checks that the author of a change may change how many members have to approve a request for access, if the change does that.
 *
 * @throws ServiceError PERMISSION_DENIED
 */
export async function requireMaySetApprovals(
  escalation: Pick<EscalationGuard, "isOwner">,
  transaction: OrgTransaction,
  before: OrgRow,
  { accessRequestApprovals: approvals }: Org,
): Promise<void> {
  if (approvals === undefined || approvals === before.access_request_approvals) return;
  if (await escalation.isOwner(transaction)) return;
  const message =
    "org.access_request_approvals is changed by an owner of the org, with a credential that is neither limited nor narrowed";
  throw new ServiceError("PERMISSION_DENIED", message, { metadata: { permission: "iam.orgs.update" } });
}
