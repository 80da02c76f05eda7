import type { AccessToken, Impersonator } from "../../identity/tokens/access-token.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { TokenEnd } from "../engine/tables/token-table.ts";

export type TokenEndReason =
  | "EXPIRED"
  | "ORG_DELETED"
  | "MEMBER_DELETED"
  | "MEMBER_SUSPENDED"
  | "ALL_REVOKED"
  | "API_KEY_DELETED"
  | "API_KEY_ROTATED"
  | "CLIENT_DELETED"
  | "SESSION_ENDED"
  | "IMPERSONATION_ENDED"
  | "TOKEN_REVOKED";

const ends: Record<TokenEnd, TokenEndReason> = {
  ApiKey: "API_KEY_DELETED",
  Session: "SESSION_ENDED",
  Token: "TOKEN_REVOKED",
  Rotation: "API_KEY_ROTATED",
  Client: "CLIENT_DELETED",
};

/**
 * Returns what has ended a token; undefined if it holds. The suspension of an org does not end tokens: it denies access, except
 * to members that may lift it.
 *
 * The end of a client of another org is in the snapshot of that org.
 *
 * @param snapshot of the org that the token names.
 * @param now the database's clock, in milliseconds.
 */
export function findTokenEnd(
  snapshot: OrgSnapshot,
  { id, memberId, orgId, sessionId, clientId, clientOrgId, gen, impersonator, exchangedFrom, expireTime }: AccessToken,
  now: number,
): TokenEndReason | undefined {
  const { org, members, tokens } = snapshot;
  if (expireTime <= now) return "EXPIRED";
  if (org.state === "DELETED") return "ORG_DELETED";
  const member = members.findById(memberId);
  const state = members.stateOf(member);
  if (member === 0 || state === undefined || state === "DELETED") return "MEMBER_DELETED";
  if (state !== "ACTIVE") return "MEMBER_SUSPENDED";
  if (tokens.genOf(memberId) !== gen) return "ALL_REVOKED";
  const ofClient = clientOrgId === orgId ? tokens.endOf(clientId, now) : undefined;
  const ended = tokens.endOf(id, now) ?? tokens.endOf(sessionId, now) ?? ofClient;
  if (ended !== undefined) return ends[ended];
  const isCutOff = exchangedFrom.some((each) => tokens.endOf(each, now) !== undefined);
  if (impersonator === undefined) return isCutOff ? "TOKEN_REVOKED" : undefined;
  return !isCutOff && isStillThere(snapshot, impersonator, now) ? undefined : "IMPERSONATION_ENDED";
}

function isStillThere(
  { members, tokens }: OrgSnapshot,
  { memberId, gen, tokenId }: Impersonator,
  now: number,
): boolean {
  const member = members.findById(memberId);
  if (member === 0 || members.stateOf(member) !== "ACTIVE" || tokens.genOf(memberId) !== gen) return false;
  return tokenId === undefined || tokens.endOf(tokenId, now) === undefined;
}
