import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type EraseMemberRequest,
  type EraseMemberResponse,
  EraseMemberResponseSchema,
  MembersService,
} from "../../../gen/iam/v1alpha/member_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import { isInLog } from "../../changes/erase-member.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { References } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { memberDefinition } from "./definition.ts";
import { eraseFromLogs } from "./erase-from-logs.ts";
import { memberPath } from "./message.ts";

type MemberPath = References<typeof patterns.Member>;

/** Creates the method that erases a purged member from the logs. */
export function createEraseMember(dependencies: ResourceDependencies) {
  return (request: EraseMemberRequest, context: HandlerContext): Promise<EraseMemberResponse> => {
    const path = targetOf(context, patterns.Member);
    return eraseFromLogs(dependencies, readWriteRequest(MembersService.method.eraseMember, request, context), {
      type: "Member",
      pattern: patterns.Member,
      org: path[0],
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
async function requirePurged({ db, org }: OrgTransaction, path: MemberPath): Promise<string> {
  const row = await findRow(db, memberDefinition, path);
  if (row !== undefined) {
    const state = row.delete_time === null ? row.state : "DELETED";
    const next =
      row.delete_time === null ? "delete and purge it first" : "purge it first; it is removed soon afterwards";
    throw stateForbids(`the member ${memberPath(row)} is ${state}: ${next}`, memberPath(row), state);
  }
  const [, member] = path;
  if (member.by === "name") {
    const rule = "must name the member by its id, as in orgs/acme/members/@<id>: a purged member has no name";
    throw invalidField("path", rule);
  }
  const isKnown = member.by === "id" && (await isInLog(db, { type: "Member", orgId: org.id, memberId: member.value }));
  if (!isKnown) throw notFound("member", formatReferences(patterns.Member, path));
  return member.value;
}
