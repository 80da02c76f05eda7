import type { ServiceImpl } from "@connectrpc/connect";
import { MemberSchema, MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { ServiceError } from "../errors/service-error.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { markDeleted, updateNamedRow } from "../resource/org-scoped-rows.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import type { ResourceDependencies } from "../resource/standard-methods.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { loggedMember, memberPath, toMember, toMemberColumnType } from "./message.ts";
import { findMember, insertMember, readMembersPage, selectMembers } from "./store.ts";

import { memberFields } from "./fields.ts";

export function createMembersService(dependencies: ResourceDependencies): ServiceImpl<typeof MembersService> {
  const { database, parents, installation } = dependencies;
  return createStandardService(MembersService, dependencies, {
    type: "Member",
    label: "member",
    schema: MemberSchema,
    toMessage: toMember,
    pathOf: memberPath,
    idOf: (row) => row.id,
    logged: loggedMember,
    fields: memberFields,
    uniqueKey: ["members.org_id", "members.id"],
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
}

function operatorProtected(): ServiceError {
  return new ServiceError("OPERATOR_PROTECTED", "the operator of this installation cannot be deleted");
}
