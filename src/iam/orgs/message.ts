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
    customerPath: formatPath(
      patterns.Customer,
      pathName({ id: row.customer_id, name: row.customer_name, delete_time: row.customer_delete_time }),
    ),
  };
}

/** Returns the field `api_key_policy`; without it if nothing is required. */
function policyField({ api_key_max_seconds: seconds, api_key_scopes_required: scopesRequired }: OrgRow) {
  if (seconds === null && scopesRequired !== true) return {};
  const maxLifetime = seconds === null ? {} : { maxLifetime: create(DurationSchema, { seconds: BigInt(seconds) }) };
  return { apiKeyPolicy: create(ApiKeyPolicySchema, { ...maxLifetime, scopesRequired: scopesRequired === true }) };
}

/** Returns the columns with what an org requires of API keys. */
export function policyColumns({ apiKeyPolicy }: Pick<Org, "apiKeyPolicy">) {
  const seconds = apiKeyPolicy?.maxLifetime?.seconds;
  return {
    api_key_max_seconds: seconds === undefined ? null : String(seconds),
    api_key_scopes_required: apiKeyPolicy?.scopesRequired === true ? true : null,
  };
}

export function orgPath(row: Pick<OrgRow, "id" | "name" | "delete_time">): string {
  return formatPath(patterns.Org, pathName(row));
}
