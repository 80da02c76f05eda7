// Implements TokensService.
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  IntrospectTokenResponseSchema,
  IntrospectTokenResponse_End as End,
  IssueTokenResponseSchema,
  RevokeTokenResponseSchema,
  type TokensService,
} from "../../../gen/iam/v1alpha/token_pb.ts";
import { authorOf, callerOf } from "../../access/evaluation/call.ts";
import type { TokenFunctions } from "./functions.ts";

export function createTokensService(functions: TokenFunctions): ServiceImpl<typeof TokensService> {
  const { issueToken, introspectToken, revokeToken } = functions;
  return {
    async issueToken({ lifetime, validateOnly }, context) {
      const { text, token } = await issueToken(callerOf(context), { lifeSeconds: secondsOf(lifetime) });
      return create(IssueTokenResponseSchema, {
        ...(!validateOnly && { accessToken: text }),
        expireTime: timestampFromMs(token.expireTime),
      });
    },

    async introspectToken({ token: text }, context) {
      const found = await introspectToken(callerOf(context), text);
      if (found === undefined) return create(IntrospectTokenResponseSchema, { active: false });
      const { token, end, memberPath } = found;
      return create(IntrospectTokenResponseSchema, {
        active: end === undefined,
        ...(end !== undefined && { end: End[end] }),
        memberPath,
        tokenId: token.id,
        sessionId: token.sessionId,
        clientId: token.clientId,
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

function secondsOf(lifetime: { readonly seconds: bigint } | undefined): number | undefined {
  return lifetime && Number(lifetime.seconds);
}
