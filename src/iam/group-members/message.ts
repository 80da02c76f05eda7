import { type GroupMember, type Subgroup } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { memberState, memberType } from "../members/message.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { versionFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { MembershipRow } from "./membership-store.ts";
import type { SubgroupRow } from "./subgroup-store.ts";

export function toGroupMember(row: MembershipRow): GroupMember {
  return {
    $typeName: "iam.v1alpha.GroupMember",
    path: membershipPath(row),
    id: row.member_id,
    name: row.member_name,
    displayName: row.display_name,
    memberPath: formatPath(patterns.Member, orgPathName(row), row.member_name),
    type: memberType(row),
    state: memberState({ state: row.state, delete_time: row.member_delete_time }),
    expireTime: toTimestamp(row.expire_time),
    ...versionFields(row),
  };
}

export function membershipPath(row: MembershipRow): string {
  return formatPath(patterns.GroupMember, orgPathName(row), row.group_name, row.member_name);
}

export function toSubgroup(row: SubgroupRow): Subgroup {
  return {
    $typeName: "iam.v1alpha.Subgroup",
    path: subgroupPath(row),
    id: row.subgroup_id,
    name: row.child_name,
    displayName: row.child_display_name,
    groupPath: formatPath(patterns.Group, orgPathName(row), row.child_name),
    description: row.description,
    ...versionFields(row),
  };
}

export function subgroupPath(row: SubgroupRow): string {
  return formatPath(patterns.Subgroup, orgPathName(row), row.group_name, row.child_name);
}
