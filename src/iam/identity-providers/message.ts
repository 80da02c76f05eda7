import {
  type IdentityProvider,
  IdentityProvider_OnFirstSignIn as OnFirstSignIn,
  IdentityProvider_TokenEndpointAuthMethod as Method,
} from "../../../gen/iam/v1alpha/identity_provider_pb.ts";
import type { AuthMethod } from "../../identity/oidc/provider-client.ts";
import { byId, formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { IdentityProviderRow } from "./store.ts";

/** The columns of the methods; those that are not set are null. */
const methods = {
  CLIENT_SECRET_BASIC: Method.CLIENT_SECRET_BASIC,
  CLIENT_SECRET_POST: Method.CLIENT_SECRET_POST,
} as const satisfies Record<AuthMethod, Method>;

export const toAuthMethodColumn = (method: Method): AuthMethod | null =>
  (Object.keys(methods) as AuthMethod[]).find((name) => methods[name] === method) ?? null;

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
    // Entries of the log from before the setting do not have it.
    emailTrusted: row.email_trusted ?? false,
    tokenEndpointAuthMethod:
      row.token_endpoint_auth_method === null
        ? Method.TOKEN_ENDPOINT_AUTH_METHOD_UNSPECIFIED
        : methods[row.token_endpoint_auth_method],
    ...firstSignInFields(row),
  };
}

/** Entries of the log from before first sign-ins have nothing of it. */
function firstSignInFields(row: IdentityProviderRow) {
  const { first_sign_in_author_org_id: authorOrgId, first_sign_in_author_id: authorId } = row;
  return {
    subjectClaim: row.subject_claim ?? "",
    onFirstSignIn: row.creates_members ? OnFirstSignIn.CREATE : OnFirstSignIn.REFUSE,
    firstSignInCondition: row.first_sign_in_condition ?? "",
    firstSignInGroupPaths: row.first_sign_in_group_names.map((name) =>
      formatPath(patterns.Group, orgPathName(row), name),
    ),
    // Of any org, and may no longer exist.
    firstSignInAuthorPath: authorId ? formatPath(patterns.Member, byId(authorOrgId ?? ""), byId(authorId)) : "",
  };
}

export function identityProviderPath(row: IdentityProviderRow): string {
  return formatPath(patterns.IdentityProvider, orgPathName(row), row.name);
}
