import { formatScopes } from "../../identity/tokens/scopes.ts";
import type { Introspection } from "../../iam/tokens/introspect-token.ts";

/** Describes a token in the form of RFC 7662. Of one that is not active, nothing else is told (2.2), not even why. */
export function describeToken(found: Introspection | undefined, issuer: string): Readonly<Record<string, unknown>> {
  if (found === undefined || found.end !== undefined) return { active: false };
  const { token, memberPath, impersonatorPath } = found;
  return {
    active: true,
    token_type: "Bearer",
    iss: issuer,
    aud: issuer,
    sub: token.memberId,
    username: memberPath,
    org: token.orgId,
    sid: token.sessionId,
    client_id: token.clientId,
    scope: formatScopes(token.scopes),
    ...(token.projectId !== undefined && { project: token.projectId }),
    ...(token.allowedAddresses !== undefined && { allowed_addresses: token.allowedAddresses }),
    ...(token.impersonator !== undefined && { act: { sub: token.impersonator.memberId, username: impersonatorPath } }),
    jti: token.id,
    iat: token.issueTime / 1_000,
    exp: token.expireTime / 1_000,
  };
}
