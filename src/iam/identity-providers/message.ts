import type { IdentityProvider } from "../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { IdentityProviderRow } from "./store.ts";

export function toIdentityProvider(row: IdentityProviderRow): IdentityProvider {
  return {
    $typeName: "iam.v1alpha.IdentityProvider",
    path: identityProviderPath(row),
    ...namedFields(row),
    issuer: row.issuer,
    clientId: row.client_id,
    // Never shown.
    clientSecret: "",
    scopes: row.scopes,
  };
}

export function identityProviderPath(row: IdentityProviderRow): string {
  return formatPath(patterns.IdentityProvider, orgPathName(row), row.name);
}
