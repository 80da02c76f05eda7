import { randomUUID } from "node:crypto";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type Member,
  type MemberSchema,
  MembersService,
  type RevokeTokensRequest,
} from "../../../gen/iam/v1alpha/member_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { closeScope, openScope } from "../../standard-methods/write/scope.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { expireSessions } from "../sessions/store.ts";
import { toMember } from "./message.ts";
import type { MemberRow } from "./store.ts";

type ServedMembers = ServedResource<"members", MemberRow, typeof MemberSchema>;

/** Creates the method that ends all tokens and sessions of a member. */
export function createRevokeTokens(served: ServedMembers) {
  const { definition, reader, dependencies } = served;
  return async (request: RevokeTokensRequest, context: HandlerContext): Promise<Member> => {
    const path = targetOf(context, patterns.Member);
    const write = readWriteRequest(MembersService.method.revokeTokens, request, context);
    const answer = await runWrite(dependencies, write, async (call) => {
      const transaction = await openScope(served, call, path);
      const found = await reader.find(transaction.db, path);
      const row = await requireFound(served, transaction, found, path, request.etag);
      const { db, org, revision, time } = transaction;
      const change = { fields: definition.toMessage(row), columns: { token_gen: randomUUID() } };
      const after = { ...row, ...(await updateRow({ db, orgId: org.id, revision, time }, definition, row, change)) };
      recordChange(transaction, definition, row, after);
      await expireSessions(transaction, row.id);
      await closeScope(call, transaction);
      return toMember(after);
    });
    return answer as Member;
  };
}
