import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type EraseMemberRequest,
  type EraseMemberResponse,
  EraseMemberResponseSchema,
  MembersService,
} from "../../../gen/iam/v1alpha/member_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { References } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { memberDefinition } from "./definition.ts";
import { eraseFromLogs, requireInLog } from "./erase-from-logs.ts";
import { memberPath } from "./message.ts";

type MemberPath = References<typeof patterns.Member>;

const erased = { type: "Member", pattern: patterns.Member } as const;

/** Creates the method that erases a purged member from the logs. */
export function createEraseMember(dependencies: ResourceDependencies) {
  return (request: EraseMemberRequest, context: HandlerContext): Promise<EraseMemberResponse> => {
    const path = targetOf(context, patterns.Member);
    return eraseFromLogs(dependencies, readWriteRequest(MembersService.method.eraseMember, request, context), {
      ...erased,
      locks: { org: path[0] },
      requireGone: (transaction) => requirePurged(transaction, path),
      toAnswer: (changeCount) => create(EraseMemberResponseSchema, { changeCount }),
    });
  };
}

/**
 * Returns the id of a member that no longer exists.
 *
 * @throws ServiceError FIELD_INVALID for a name, STATE_FORBIDS for a member that exists, RESOURCE_NOT_FOUND for one that never was, or of
 *   which the log has nothing.
 */
async function requirePurged(transaction: OrgTransaction, path: MemberPath): Promise<string> {
  const row = await findRow(transaction.db, memberDefinition, path);
  if (row !== undefined) {
    const state = row.delete_time === null ? row.state : "DELETED";
    const next =
      row.delete_time === null ? "delete and purge it first" : "purge it first; it is removed soon afterwards";
    throw stateForbids(`the member ${memberPath(row)} is ${state}: ${next}`, memberPath(row), state);
  }
  return requireInLog(transaction, erased, path, "purged");
}
