import { type RedeemCode, createRedeemCode } from "../authorization-codes/redeem-code.ts";
import type { TokenDependencies } from "./dependencies.ts";
import { type IntrospectToken, createIntrospectToken } from "./introspect-token.ts";
import { type IssueToken, createIssueToken } from "./issue-token.ts";
import { type RefreshSession, createRefreshSession } from "./refresh-token.ts";
import { type StartSession, createStartSession } from "./start-session.ts";
import { type RevokeToken, createRevokeToken } from "./revoke-token.ts";

/** What TokensService and the OAuth endpoints do. */
export interface TokenFunctions {
  readonly issueToken: IssueToken;
  readonly startSession: StartSession;
  readonly refreshSession: RefreshSession;
  readonly introspectToken: IntrospectToken;
  readonly revokeToken: RevokeToken;
  readonly redeemCode: RedeemCode;
}

export function createTokenFunctions(dependencies: TokenDependencies): TokenFunctions {
  return {
    issueToken: createIssueToken(dependencies),
    startSession: createStartSession(dependencies),
    refreshSession: createRefreshSession(dependencies),
    introspectToken: createIntrospectToken(dependencies),
    revokeToken: createRevokeToken(dependencies),
    redeemCode: createRedeemCode(dependencies),
  };
}
