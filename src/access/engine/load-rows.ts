import type { OrgSnapshot } from "./org-snapshot.ts";
import { putGroup, putMember, putMembership, putProject, putRole, putRoleBinding, putSubgroup } from "./put-rows.ts";
import type { GroupRow, MemberRow, MembershipRow, ProjectRow, RoleBindingRow, RoleRow, SubgroupRow } from "./rows.ts";

/** Rows of one org, also of what is deleted and can come back. */
export interface OrgRows {
  readonly members?: Iterable<MemberRow>;
  readonly groups?: Iterable<GroupRow>;
  readonly projects?: Iterable<ProjectRow>;
  readonly roles?: Iterable<RoleRow>;
  readonly group_members?: Iterable<MembershipRow>;
  readonly subgroups?: Iterable<SubgroupRow>;
  readonly role_bindings?: Iterable<RoleBindingRow>;
}

/**
 * Adds rows to a snapshot. It may be called again with more of them, but what a row refers to has to be there before: all
 * members, groups, projects and roles, then the others.
 */
export function loadRows(snapshot: OrgSnapshot, rows: OrgRows): void {
  for (const row of rows.members ?? []) putMember(snapshot, row);
  for (const row of rows.groups ?? []) putGroup(snapshot, row);
  for (const row of rows.projects ?? []) putProject(snapshot, row);
  for (const row of rows.roles ?? []) putRole(snapshot, row);
  for (const row of rows.group_members ?? []) putMembership(snapshot, row);
  for (const row of rows.subgroups ?? []) putSubgroup(snapshot, row);
  for (const row of rows.role_bindings ?? []) putRoleBinding(snapshot, row);
}
