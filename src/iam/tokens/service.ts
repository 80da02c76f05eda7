// Implements TokensService.
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  IntrospectTokenResponseSchema,
  IntrospectTokenResponse_End as End,
  IssueTokenResponseSchema,
  RefreshTokenResponseSchema,
  RevokeTokenResponseSchema,
  type TokensService,
} from "../../../gen/iam/v1alpha/token_pb.ts";
import { authorOf, callerOf } from "../../access/evaluation/call.ts";
import type { TokenFunctions } from "./functions.ts";
import type { IssuedTokens } from "./issue-token.ts";
import type { CountRefresh } from "./refresh-token.ts";

/** @param addressOf returns the IP address of a call's client; null if it is not known. */
export function createTokensService(
  functions: TokenFunctions,
  count: CountRefresh,
  addressOf: (context: HandlerContext) => string | null,
): ServiceImpl<typeof TokensService> {
  const { issueToken, startSession, refreshSession, introspectToken, revokeToken } = functions;
  return {
    async issueToken({ lifetime, validateOnly, startSession: starts, scopes, projectPath }, context) {
      const request = { lifeSeconds: secondsOf(lifetime), scopes, projectPath };
      const caller = callerOf(context);
      const issued = await (starts
        ? startSession(caller, request, authorOf(context), validateOnly)
        : issueToken(caller, request));
      return create(IssueTokenResponseSchema, describe(issued, validateOnly));
    },

    async refreshToken({ refreshToken: text, lifetime, validateOnly, scopes, projectPath }, context) {
      const wanted = { lifeSeconds: secondsOf(lifetime), scopes, projectPath };
      const origin = { clientAddress: addressOf(context), userAgent: context.requestHeader.get("user-agent") };
      const request = { ...wanted, ...origin, client: undefined };
      const issued = await refreshSession(text, request, count, validateOnly);
      return create(RefreshTokenResponseSchema, describe(issued, validateOnly));
    },

    async introspectToken({ token: text }, context) {
      const found = await introspectToken(callerOf(context), text);
      if (found === undefined) return create(IntrospectTokenResponseSchema, { active: false });
      const { token, end, memberPath, impersonatorPath } = found;
      return create(IntrospectTokenResponseSchema, {
        active: end === undefined,
        ...(end !== undefined && { end: End[end] }),
        memberPath,
        impersonatorPath,
        tokenId: token.id,
        sessionId: token.sessionId,
        clientId: token.clientId,
        scopes: [...(token.scopes ?? ["*"])],
        projectId: token.projectId ?? "",
        allowedAddresses: [...(token.allowedAddresses ?? [])],
        issueTime: timestampFromMs(token.issueTime),
        expireTime: timestampFromMs(token.expireTime),
      });
    },

    async revokeToken({ token, validateOnly }, context) {
      await revokeToken(token, () => authorOf(context), validateOnly);
      return create(RevokeTokenResponseSchema);
    },
  };
}

/** Describes what was issued; without the tokens if nothing was. */
function describe({ text, token, refreshToken = "" }: IssuedTokens, validateOnly: boolean) {
  const expireTime = timestampFromMs(token.expireTime);
  return validateOnly ? { expireTime } : { accessToken: text, expireTime, refreshToken };
}

function secondsOf(lifetime: { readonly seconds: bigint } | undefined): number | undefined {
  return lifetime && Number(lifetime.seconds);
}
