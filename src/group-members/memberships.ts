import { GroupMemberSchema } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { keepOwner } from "../access/keep-owner.ts";
import { violatedConstraint } from "../database/failure.ts";
import { ServiceError, deleted, notFound } from "../errors/service-error.ts";
import { findGroup } from "../groups/store.ts";
import { selectMembers } from "../members/store.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { parseResourcePath } from "../paths/resource-path.ts";
import { mapItems } from "../resource/batch-item.ts";
import { expiryInPast, readExpireTime } from "../resource/expire-time.ts";
import { orgReference, requireSameOrg } from "../resource/org-reference.ts";
import { required } from "../resource/required.ts";
import { requireSamePath } from "./require-same-path.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { type ResourceDependencies, defineResource } from "../resource/resource.ts";
import {
  type MembershipRow,
  deleteMemberships,
  findMembership,
  insertMemberships,
  readMembershipsPage,
  selectMemberships,
  updateMembership,
} from "./membership-store.ts";
import { loggedMembership, membershipPath, toGroupMember } from "./message.ts";
import { membershipFields } from "./fields.ts";

const memberPathField = "group_member.member_path";
const expireTimeField = "group_member.expire_time";

/** Who is in which group. */
export function createMemberships(dependencies: ResourceDependencies) {
  const { database, parents, grants, now } = dependencies;
  const lookup = createPathLookup(
    database,
    "memberships",
    ["orgs", "groups", "members"],
    selectMemberships(database.reads),
  );
  const members = createPathLookup(database, "new_members", ["orgs", "members"], selectMembers(database.reads));
  return defineResource({
    type: "GroupMember",
    label: "membership",
    schema: GroupMemberSchema,
    toMessage: toGroupMember,
    pathOf: membershipPath,
    idOf: (row: MembershipRow) => row.member_id,
    parentIdOf: (row) => row.group_id,
    logged: loggedMembership,
    fields: membershipFields,
    uniqueKey: ["group_members.org_id", "group_members.group_id", "group_members.member_id"],
    lookup,
    resolveParent: parents.group,
    readPage: readMembershipsPage,
    find: findMembership,

    async insertMany(transaction, groupPath, messages, atItem) {
      const { db, org } = transaction;
      const paths = await mapItems(messages, atItem, ({ memberPath }) => {
        const path = parseResourcePath(patterns.Member, memberPath, memberPathField);
        requireSameOrg(transaction, path[0], memberPathField);
        return path;
      });
      const group = await findGroup(db, groupPath);
      if (group === undefined) throw notFound("group", formatReferences(patterns.Group, groupPath));
      await grants.requireMayJoin(transaction, group.id);
      const found = await members.all(
        db,
        paths.map((path) => [orgReference(transaction), path[1]]),
      );
      const rows = await mapItems(messages, atItem, (message, index) => {
        const member = found[index];
        const path = formatReferences(patterns.Member, paths[index] ?? []);
        if (member === undefined) throw notFound("member", path);
        if (member.delete_time !== null) throw deleted("member", path);
        return { member_id: member.id, expire_time: readExpireTime(message.expireTime, now(), expireTimeField) };
      });
      await insertMemberships(transaction, group.id, rows);
      const inserted = await lookup.all(
        db,
        rows.map((row) => idPath(org.id, group.id, row.member_id)),
      );
      return mapItems(inserted, atItem, (row) => {
        // The database's clock has the last word.
        if (row === undefined) throw expiryInPast(expireTimeField);
        return row;
      });
    },

    atPath([org, , member], patch, field) {
      const memberPath = formatReferences(patterns.Member, [required(org), required(member)]);
      requireSamePath(memberPath, patch.memberPath, `${field}.member_path`);
      return { ...patch, memberPath };
    },

    async update(transaction, row, message) {
      const expireTime = readExpireTime(message.expireTime, now(), expireTimeField);
      await grants.requireMayJoin(transaction, row.group_id);
      return keepOwner(transaction, () => updateMembership(transaction, row, expireTime));
    },

    removeMany: (transaction, rows) => keepOwner(transaction, () => deleteMemberships(transaction, rows)),

    explain(error, message) {
      if (violatedConstraint(error) !== "group_members_pkey") return undefined;
      const path = message.memberPath;
      return new ServiceError("RESOURCE_EXISTS", `${path} is already a member of this group`, { cause: error });
    },
  });
}

const idPath = (...ids: string[]) => ids.map((value) => ({ by: "id", value }) as const);
