import { create } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { ApiKeyPolicySchema, type Org, Org_State } from "../../../gen/iam/v1alpha/org_pb.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { deletionFields, namedFields } from "../../standard-methods/named-fields.ts";
import { invoiceFields } from "../customers/invoice-fields.ts";
import type { OrgRow } from "./store.ts";

const states = { ACTIVE: Org_State.ACTIVE, SUSPENDED: Org_State.SUSPENDED } as const;

export function toOrg(row: OrgRow): Org {
  return {
    $typeName: "iam.v1alpha.Org",
    path: orgPath(row),
    ...namedFields(row),
    ...deletionFields(row),
    ...invoiceFields(row),
    state: row.delete_time === null ? states[row.state] : Org_State.DELETED,
    ...policyField(row),
    // Entries of earlier versions do not have it.
    supportAccessRequired: (row.support_access_required_time ?? null) !== null,
    customerPath: formatPath(
      patterns.Customer,
      pathName({ id: row.customer_id, name: row.customer_name, delete_time: row.customer_delete_time }),
    ),
  };
}

/** Returns what an org requires of API keys and of requests for access; without the field `api_key_policy` if that is nothing. */
function policyField({
  api_key_max_seconds: seconds,
  api_key_scopes_required: scopesRequired,
  access_request_approvals: approvals,
}: OrgRow) {
  // Entries of earlier versions do not have it.
  const ofRequests = typeof approvals === "number" ? { accessRequestApprovals: approvals } : {};
  if (seconds === null && scopesRequired !== true) return ofRequests;
  const maxLifetime = seconds === null ? {} : { maxLifetime: create(DurationSchema, { seconds: BigInt(seconds) }) };
  const apiKeyPolicy = create(ApiKeyPolicySchema, { ...maxLifetime, scopesRequired: scopesRequired === true });
  return { ...ofRequests, apiKeyPolicy };
}

/** What an org requires of API keys and of requests for access. */
export type OrgPolicies = Pick<Org, "apiKeyPolicy" | "accessRequestApprovals">;

/** How many approvals requests for access need stays as it is if that is not said. */
export function policyColumns({ apiKeyPolicy, accessRequestApprovals: approvals }: OrgPolicies) {
  const seconds = apiKeyPolicy?.maxLifetime?.seconds;
  return {
    api_key_max_seconds: seconds === undefined ? null : String(seconds),
    api_key_scopes_required: apiKeyPolicy?.scopesRequired === true ? true : null,
    ...(approvals !== undefined && { access_request_approvals: approvals }),
  };
}

export function orgPath(row: Pick<OrgRow, "id" | "name" | "delete_time">): string {
  return formatPath(patterns.Org, pathName(row));
}
