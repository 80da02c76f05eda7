import { type Identity, Identity_State } from "../../../gen/iam/v1alpha/identity_pb.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { IdentityRow } from "./store.ts";

export function toIdentity(row: IdentityRow): Identity {
  return {
    $typeName: "iam.v1alpha.Identity",
    path: identityPath(row),
    ...namedFields(row),
    identityProviderPath: formatPath(patterns.IdentityProvider, row.provider_org_name ?? "", row.provider_name ?? ""),
    issuer: row.issuer ?? "",
    subject: row.subject,
    state: Identity_State[row.state],
  };
}

export function identityPath(row: IdentityRow): string {
  const member = { id: row.member_id, name: row.member_name, delete_time: row.member_delete_time };
  return formatPath(patterns.Identity, orgPathName(row), pathName(member), row.name);
}
