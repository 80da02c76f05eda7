import { GroupMemberSchema } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { violatedConstraint } from "../database/failure.ts";
import { ServiceError, deleted, notFound } from "../errors/service-error.ts";
import { findGroup } from "../groups/store.ts";
import { findMember } from "../members/store.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { parseResourcePath } from "../paths/resource-path.ts";
import { expiryInPast, readExpireTime } from "../resource/expire-time.ts";
import { orgReference, requireSameOrg } from "../resource/org-reference.ts";
import { required } from "../resource/required.ts";
import { requireSamePath } from "./require-same-path.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { type ResourceDependencies, defineResource } from "../resource/standard-methods.ts";
import {
  type MembershipRow,
  deleteMembership,
  findMembership,
  insertMembership,
  readMembershipsPage,
  selectMemberships,
  updateMembership,
} from "./membership-store.ts";
import { membershipPath, toGroupMember } from "./message.ts";
import { membershipFields } from "./fields.ts";

const memberPathField = "group_member.member_path";
const expireTimeField = "group_member.expire_time";

/** Who is in which group. */
export function createMemberships(dependencies: ResourceDependencies) {
  const { database, parents, now } = dependencies;
  return defineResource({
    type: "GroupMember",
    label: "membership",
    schema: GroupMemberSchema,
    toMessage: toGroupMember,
    pathOf: membershipPath,
    idOf: (row: MembershipRow) => row.member_id,
    logged: ({ org_id, group_id, member_id, expire_time, changed_revision, create_time, update_time }) => ({
      org_id,
      group_id,
      member_id,
      expire_time,
      changed_revision,
      create_time,
      update_time,
    }),
    fields: membershipFields,
    uniqueKey: ["group_members.org_id", "group_members.group_id", "group_members.member_id"],
    lookup: createPathLookup(database, "memberships", ["orgs", "groups", "members"], selectMemberships(database.reads)),
    resolveParent: parents.group,
    readPage: readMembershipsPage,
    find: findMembership,

    async insert(transaction, groupPath, message) {
      const { db, org } = transaction;
      const path = parseResourcePath(patterns.Member, message.memberPath, memberPathField);
      requireSameOrg(transaction, path[0], memberPathField);
      const group = await findGroup(db, groupPath);
      if (group === undefined) throw notFound("group", formatReferences(patterns.Group, groupPath));
      const member = await findMember(db, [orgReference(transaction), path[1]]);
      if (member === undefined) throw notFound("member", formatReferences(patterns.Member, path));
      if (member.delete_time !== null) throw deleted("member", formatReferences(patterns.Member, path));
      const expireTime = readExpireTime(message.expireTime, now(), expireTimeField);
      await insertMembership(transaction, {
        org_id: org.id,
        group_id: group.id,
        member_id: member.id,
        expire_time: expireTime,
      });
      const row = await findMembership(db, idPath(org.id, group.id, member.id));
      // The database's clock has the last word.
      if (row === undefined) throw expiryInPast(expireTimeField);
      return row;
    },

    atPath([org, , member], patch, field) {
      const memberPath = formatReferences(patterns.Member, [required(org), required(member)]);
      requireSamePath(memberPath, patch.memberPath, `${field}.member_path`);
      return { ...patch, memberPath };
    },

    update(transaction, row, message) {
      return updateMembership(transaction, row, readExpireTime(message.expireTime, now(), expireTimeField));
    },

    async remove(transaction, row) {
      await deleteMembership(transaction, row);
      return null;
    },

    explain(error, message) {
      if (violatedConstraint(error) !== "group_members_pkey") return undefined;
      const path = message?.memberPath ?? "";
      return new ServiceError("RESOURCE_EXISTS", `${path} is already a member of this group`, { cause: error });
    },
  });
}

const idPath = (...ids: string[]) => ids.map((value) => ({ by: "id", value }) as const);
