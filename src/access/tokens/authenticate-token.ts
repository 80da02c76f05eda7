import type { OrgHead } from "../../changes/revision.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { AuthenticateToken } from "../../identity/authenticate.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { AccessToken, AccessTokens } from "../../identity/tokens/access-token.ts";
import type { AccessEvaluator } from "../evaluation/evaluator.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Snapshots } from "../snapshots/current-snapshots.ts";
import { mayImpersonate } from "./impersonation.ts";
import { type TokenEndReason, findTokenEnd } from "./find-token-end.ts";

interface TokenState {
  readonly token: AccessToken;
  /** Undefined if it holds. */
  readonly end: TokenEndReason | undefined;
  /** The snapshot of its org; undefined if the org no longer exists. */
  readonly snapshot: OrgSnapshot | undefined;
  /** The head of the org's change log, and the database's clock in milliseconds. */
  readonly head: TokenOrgHead;
}

/** What of the head of an org decides about its tokens. */
type TokenOrgHead = Pick<OrgHead, "customer_id" | "revision" | "readAt" | "now">;

/** Reads the head of an org; undefined if it no longer exists. */
export type ReadHead = (path: readonly [org: Reference]) => Promise<TokenOrgHead | undefined>;

/** Returns the state of a token now, as exact as an access decision; undefined for a text that is no token of this service. */
export type ReadTokenState = (text: string) => Promise<TokenState | undefined>;

/** That of an org that no longer exists. */
const noHead = { customer_id: "", revision: "", readAt: 0, now: 0 };

export function createReadTokenState(
  tokens: AccessTokens,
  heads: ReadHead,
  snapshots: Snapshots,
  evaluator: AccessEvaluator,
): ReadTokenState {
  const isClientGone = async ({ clientId, clientOrgId, orgId }: AccessToken, now: number): Promise<boolean> => {
    if (clientOrgId === undefined || clientOrgId === orgId) return false;
    const head = await heads([{ by: "id", value: clientOrgId }]);
    return head === undefined || (await snapshots.at(clientOrgId, head)).tokens.endOf(clientId, now) !== undefined;
  };

  return async (text) => {
    const token = await tokens.verify(text);
    if (token === undefined) return undefined;
    const head = await heads([{ by: "id", value: token.orgId }]);
    if (head === undefined) {
      return { token, end: "ORG_DELETED", snapshot: undefined, head: noHead };
    }
    const snapshot = await snapshots.at(token.orgId, head);
    const end = findTokenEnd(snapshot, token, head.now);
    const isEnded = end === undefined && !(await mayImpersonate(evaluator, snapshot, token, head.now));
    if (isEnded) return { token, end: "IMPERSONATION_ENDED", snapshot, head };
    const isGone = end === undefined && (await isClientGone(token, head.now));
    return { token, end: isGone ? "CLIENT_DELETED" : end, snapshot, head };
  };
}

export function createAuthenticateToken(readTokenState: ReadTokenState): AuthenticateToken {
  return async (text) => {
    const state = await readTokenState(text);
    if (state === undefined) return undefined;
    const { token, end, snapshot, head } = state;
    if (end !== undefined) throw ended(end, token);
    const {
      memberId,
      orgId,
      sessionId,
      clientId,
      credentialExpireTime,
      scopes,
      projectId,
      allowedAddresses,
      impersonator,
    } = token;
    // A rotation can have given the API key an earlier end since the token was issued.
    const endTime = Math.min(credentialExpireTime ?? Infinity, snapshot?.tokens.rotationEndOf(sessionId) ?? Infinity);
    return {
      memberId,
      orgId,
      customerId: head.customer_id,
      credentialId: sessionId,
      credentialExpireTime: endTime === Infinity ? null : new Date(endTime),
      grantsUntil: null,
      clientId,
      scopes,
      projectId,
      allowedAddresses,
      impersonator,
      token,
      orgHead: { revision: head.revision, readAt: head.readAt },
      recentHeads: [],
      time: head.now,
    };
  };
}

const explanations: Record<TokenEndReason, string> = {
  EXPIRED: "it has expired",
  ORG_DELETED: "its org was deleted",
  MEMBER_DELETED: "its member was deleted",
  MEMBER_SUSPENDED: "its member is suspended",
  ALL_REVOKED: "all tokens of its member were revoked",
  API_KEY_DELETED: "its API key was deleted",
  API_KEY_ROTATED: "its API key was rotated, and the overlap is over",
  CLIENT_DELETED: "its client was deleted",
  SESSION_ENDED: "its session was ended",
  IMPERSONATION_ENDED: "the member that impersonates its member may no longer do so",
  TOKEN_REVOKED: "it was revoked, or a token that was exchanged for it",
};

function ended(end: TokenEndReason, { orgId, memberId, sessionId }: AccessToken): ServiceError {
  return new ServiceError("TOKEN_INVALID", `the access token is not valid: ${explanations[end]}`, {
    metadata: { ended_by: end },
    concerns: { orgId, member: { memberId, credentialId: sessionId } },
  });
}
