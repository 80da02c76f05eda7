import type { QuotaRequest } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { orgOf, parentOfQuota } from "../../calls/paths.ts";
import { readOrg, useOrg } from "../../calls/use-org.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";

/** A permission, and what the person may do where it counts. */
interface Needed {
  readonly permissions: Permissions;
  readonly permission: string;
}

export interface Deciding {
  /** What the person may do in the org. */
  readonly onOrg: Permissions;
  /** Returns what decides whether the person may decide: the permission to, and the one to raise the limits, one level above. */
  readonly neededFor: (decision: "approve" | "reject", request: QuotaRequest) => Needed;
}

const raise = "iam.quotas.update";

const permissionsInOrg = ["create", "delete", "approve", "reject"].map((verb) => `iam.quotaRequests.${verb}`);

/** What a person may do with the requests of an org. */
export function useDeciding(org: string): Deciding {
  const onOrg = usePermissions(org, [...permissionsInOrg, raise]);
  // It says which customer the org has, where limits of the org are raised.
  const { org: read, isHidden } = useOrg(org);
  const customer = read?.customerPath || undefined;
  const onCustomer = usePermissions(customer ?? "", [raise], customer !== undefined);
  const neededFor = (decision: "approve" | "reject", { quotaPath }: QuotaRequest): Needed => {
    const permission = `iam.quotaRequests.${decision}`;
    if (onOrg.may(permission) !== true) return { permissions: onOrg, permission };
    const of = parentOfQuota(quotaPath);
    if (of !== orgOf(of)) return { permissions: onOrg, permission: raise };
    if (isHidden) return { permissions: { ...onOrg, may: () => false }, permission: readOrg };
    return { permissions: onCustomer, permission: raise };
  };
  return { onOrg, neededFor };
}
