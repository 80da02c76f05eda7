import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { sql } from "kysely";
import {
  type EraseMemberRequest,
  type EraseMemberResponse,
  EraseMemberResponseSchema,
  MembersService,
} from "../../../gen/iam/v1alpha/member_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import { countOfMember, eraseMember, isInLog } from "../../changes/erase-member.ts";
import { removeStates } from "../../changes/past/past-states.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { byId, formatPath, formatReferences, pathName } from "../../paths/format-path.ts";
import type { References } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { memberDefinition } from "./definition.ts";
import { memberPath } from "./message.ts";

type MemberPath = References<typeof patterns.Member>;

/** How many entries are changed under one lock of the org. */
const maxEntries = 200;

/**
 * Creates the method that erases a purged member from the logs. It takes several transactions where there are many entries; the last one has
 * the entry which says that it was done.
 */
export function createEraseMember(dependencies: ResourceDependencies) {
  return async (request: EraseMemberRequest, context: HandlerContext): Promise<EraseMemberResponse> => {
    const path = targetOf(context, patterns.Member);
    const write = readWriteRequest(MembersService.method.eraseMember, request, context);
    let changeCount = 0;
    for (;;) {
      const before = changeCount;
      const answer = await runWrite(dependencies, write, (call) =>
        runOpen(call, { org: path[0] }, async (transaction) => {
          const { db, org } = transaction;
          const erased = { orgId: org.id, memberId: await requirePurged(transaction, path) };
          if (request.validateOnly) return toAnswer(await countOfMember(db, erased));
          const count = await eraseMember(db, erased, maxEntries);
          // Also in the last of several, where nothing is left: one may have been kept meanwhile.
          if (before + count > 0) await removeStates(db, org);
          if (count === maxEntries) return toAnswer(count);
          await forgetAnswers(transaction, erased.memberId);
          if (before + count > 0) recordErasure(transaction, erased.memberId);
          return toAnswer(count);
        }),
      );
      changeCount += answer.changeCount;
      if (request.validateOnly || answer.changeCount < maxEntries) return toAnswer(changeCount);
    }
  };
}

const toAnswer = (changeCount: number): EraseMemberResponse => create(EraseMemberResponseSchema, { changeCount });

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
  const isKnown = member.by === "id" && (await isInLog(db, { orgId: org.id, memberId: member.value }));
  if (!isKnown) throw notFound("member", formatReferences(patterns.Member, path));
  return member.value;
}

/** An entry has a row before or after; to those who follow the log, this one says again that the member is gone. */
function recordErasure({ org, record }: OrgTransaction, id: string): void {
  const path = formatPath(patterns.Member, pathName(org), byId(id));
  record({ type: "Member", id, path, containerId: id, before: { org_id: org.id, id }, after: null });
}

/** Forgets what was answered to writes of the last day that may name the member: those of itself, and those with its id. */
async function forgetAnswers({ db, org }: OrgTransaction, memberId: string): Promise<void> {
  await sql`
    delete from write_requests where customer_id = ${org.customer_id} and org_id = ${org.id}
      and (actor_id = ${memberId} or position(convert_to(${memberId}, 'UTF8') in answer) > 0)`.execute(db);
}
