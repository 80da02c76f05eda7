import { randomUUID } from "node:crypto";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type Member,
  type MemberSchema,
  MembersService,
  type RevokeTokensRequest,
} from "../../../gen/iam/v1alpha/member_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { expireSessions } from "../sessions/store.ts";
import { memberDefinition } from "./definition.ts";
import { toMember } from "./message.ts";
import type { MemberRow } from "./store.ts";

type ServedMembers = ServedResource<"members", MemberRow, typeof MemberSchema>;

/** Creates the method that ends all tokens and sessions of a member. */
export function createRevokeTokens(served: ServedMembers) {
  const { reader, dependencies } = served;
  return async (request: RevokeTokensRequest, context: HandlerContext): Promise<Member> => {
    const path = targetOf(context, patterns.Member);
    const write = readWriteRequest(MembersService.method.revokeTokens, request, context);
    return runWrite(dependencies, write, (call) =>
      runOpen(call, { org: path[0] }, async (transaction) => {
        const found = await reader.find(transaction.db, path);
        return toMember(
          await endAllTokens(transaction, await requireFound(served, transaction, found, path, request.etag)),
        );
      }),
    );
  };
}

/** Ends all tokens and sessions of a member, with the codes of clients and for sign-ins, under the lock of its org. */
export async function endAllTokens(transaction: OrgTransaction, row: MemberRow): Promise<MemberRow> {
  const { db, org, revision, time } = transaction;
  const change = { fields: memberDefinition.toMessage(row), columns: { token_gen: randomUUID() } };
  const target = { db, org, revision, time };
  const after = { ...row, ...(await updateRow(target, memberDefinition, row, change)) };
  recordChange(transaction, memberDefinition, row, after);
  expireSessions(transaction, row.id);
  return after;
}
