import type { ServiceImpl } from "@connectrpc/connect";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Member, MemberSchema, MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { keepOwner } from "../access/keep-owner.ts";
import { ServiceError, invalidField } from "../errors/service-error.ts";
import { mapItems } from "../resource/batch-item.ts";
import { readExpireTime } from "../resource/expire-time.ts";
import { stateForbids } from "../resource/lifecycle.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import type { ResourceDependencies } from "../resource/resource.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { loggedMember, memberPath, toMember, toMemberColumnType } from "./message.ts";
import { type MemberRow, findMember, insertMembers, readMembersPage, selectMembers, updateMember } from "./store.ts";

import { memberFields } from "./fields.ts";

const invitationField = "member.invitation_expire_time";

export function createMembersService(dependencies: ResourceDependencies): ServiceImpl<typeof MembersService> {
  const { database, parents, installation, now } = dependencies;
  return createStandardService(MembersService, dependencies, {
    type: "Member",
    label: "member",
    schema: MemberSchema,
    toMessage: toMember,
    pathOf: memberPath,
    idOf: (row) => row.id,
    parentIdOf: (row) => row.org_id,
    logged: loggedMember,
    fields: memberFields,
    uniqueKey: ["members.org_id", "members.id"],
    lookup: createPathLookup(database, "members", ["orgs", "members"], selectMembers(database.reads)),
    resolveParent: parents.org,
    readPage: readMembersPage,
    find: findMember,
    async insertMany(transaction, _parent, members, atItem) {
      const rows = await mapItems(members, atItem, (member) => ({
        ...member,
        type: toMemberColumnType(member.type),
        expireTime: readExpireTime(member.invitationExpireTime, now(), invitationField),
      }));
      return insertMembers(transaction, rows);
    },
    update(transaction, row, member) {
      return updateMember(transaction, row, member, readInvitation(row, member, now()));
    },
    lifecycle: {
      table: "members",
      accompany(_transaction, row, transition) {
        if (row.id === installation.operatorId) throw operatorProtected();
        if (transition === "activate") requireOpenInvitation(row, now());
      },
      surround: (transaction, transition, change) =>
        transition === "delete" || transition === "suspend" ? keepOwner(transaction, change) : change(),
    },
    explain: (error, member) => explainNameTaken(error, "members_name_key", "member", member),
  });
}

/**
 * When the invitation expires, after an update; null for who is not invited.
 *
 * @throws ServiceError FIELD_INVALID for a time in the past, or for a Member who has accepted.
 */
function readInvitation(row: MemberRow, member: Member, now: Date): Date | null {
  const current = row.invitation_expire_time;
  const wanted = member.invitationExpireTime;
  if (wanted === undefined || timestampDate(wanted).getTime() === current?.getTime()) return current;
  if (current === null) throw invalidField(invitationField, `must be unset: the member is ${row.state}`, "invitation");
  return readExpireTime(wanted, now, invitationField);
}

function requireOpenInvitation(row: MemberRow, now: Date): void {
  if (row.invitation_expire_time === null || row.invitation_expire_time > now) return;
  const path = memberPath(row);
  const time = row.invitation_expire_time.toISOString();
  throw stateForbids(`the member ${path} is INVITED, and the invitation expired at ${time}`, path, row.state);
}

function operatorProtected(): ServiceError {
  const message = "the operator of this installation can neither be deleted nor suspended";
  return new ServiceError("OPERATOR_PROTECTED", message);
}
