import type { ServiceImpl } from "@connectrpc/connect";
import { MemberSchema, type MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { authorOf, targetOf } from "../access/call.ts";
import { ServiceError } from "../errors/service-error.ts";
import { patterns } from "../paths/patterns.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { markDeleted, updateNamedRow } from "../resource/org-scoped-rows.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { required } from "../resource/required.ts";
import { type ResourceDependencies, createStandardMethods } from "../resource/standard-methods.ts";
import { loggedMember, memberPath, toMember, toMemberColumnType } from "./message.ts";
import { findMember, insertMember, readMembersPage, selectMembers } from "./store.ts";

export function createMembersService(dependencies: ResourceDependencies): ServiceImpl<typeof MembersService> {
  const { database, parents, installation } = dependencies;
  const members = createStandardMethods(dependencies, {
    type: "Member",
    label: "member",
    schema: MemberSchema,
    toMessage: toMember,
    pathOf: memberPath,
    idOf: (row) => row.id,
    logged: loggedMember,
    cursorOf: (row) => [row.org_id, row.id],
    lookup: createPathLookup(database, "members", ["orgs", "members"], selectMembers(database.reads)),
    resolveParent: parents.org,
    readPage: readMembersPage,
    find: findMember,
    insert: (transaction, _parent, member) =>
      insertMember(transaction, { ...member, type: toMemberColumnType(member.type) }),
    update: (transaction, row, member) => updateNamedRow(transaction, "members", row, member),
    remove: (transaction, row) => {
      if (row.id === installation.operatorId) throw operatorProtected();
      return markDeleted(transaction, "members", row);
    },
    explain: (error, member) => explainNameTaken(error, "members_name_key", "member", member),
  });

  return {
    async getMember(_request, context) {
      return toMember(await members.get(targetOf(context, patterns.Member)));
    },

    async listMembers(request, context) {
      const { rows, nextPageToken } = await members.list(targetOf(context, patterns.Org), request);
      return { members: rows.map(toMember), nextPageToken };
    },

    async createMember(request, context) {
      const member = required(request.member);
      return toMember(await members.create(targetOf(context, patterns.Org), member, authorOf(context)));
    },

    async updateMember(request, context) {
      const update = { patch: required(request.member), mask: request.updateMask, field: "member" };
      return toMember(await members.update(targetOf(context, patterns.Member), update, authorOf(context)));
    },

    async deleteMember(request, context) {
      const row = await members.delete(targetOf(context, patterns.Member), request.etag, authorOf(context));
      return toMember(required(row));
    },
  };
}

function operatorProtected(): ServiceError {
  return new ServiceError("OPERATOR_PROTECTED", "the operator of this installation cannot be deleted");
}
