import { formatScopes } from "../../identity/tokens/scopes.ts";
import type { Introspection } from "../../iam/tokens/introspect-token.ts";

/**
 * Describes a token in the form of RFC 7662. A token that has ended is described, too, with `ended_by`; of any other text only
 * that it is not active.
 */
export function describeToken(found: Introspection | undefined, issuer: string): Readonly<Record<string, unknown>> {
  if (found === undefined) return { active: false };
  const { token, end, memberPath, impersonatorPath } = found;
  return {
    active: end === undefined,
    ...(end !== undefined && { ended_by: end }),
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
