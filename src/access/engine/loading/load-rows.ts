import type { OrgSnapshot } from "../org-snapshot.ts";
import {
  putEndedToken,
  putGroup,
  putMember,
  putMembership,
  putProject,
  putRole,
  putRoleBinding,
  putSubgroup,
} from "./put-rows.ts";
import type {
  EndedTokenRow,
  GroupRow,
  MemberRow,
  MembershipRow,
  ProjectRow,
  RoleBindingRow,
  RoleRow,
  SubgroupRow,
} from "./rows.ts";

/** Rows of one org, including those of soft-deleted resources. */
export interface OrgRows {
  readonly members?: Iterable<MemberRow>;
  readonly groups?: Iterable<GroupRow>;
  readonly projects?: Iterable<ProjectRow>;
  readonly roles?: Iterable<RoleRow>;
  readonly group_members?: Iterable<MembershipRow>;
  readonly subgroups?: Iterable<SubgroupRow>;
  readonly role_bindings?: Iterable<RoleBindingRow>;
  readonly ended_tokens?: Iterable<EndedTokenRow>;
}

/**
 * Adds rows to a snapshot. May be called again with more rows. A row must be loaded after the rows to which it refers: all
 * members, groups, projects and roles first, then the others.
 */
export function loadRows(snapshot: OrgSnapshot, rows: OrgRows): void {
  for (const row of rows.members ?? []) putMember(snapshot, row);
  for (const row of rows.groups ?? []) putGroup(snapshot, row);
  for (const row of rows.projects ?? []) putProject(snapshot, row);
  for (const row of rows.roles ?? []) putRole(snapshot, row);
  for (const row of rows.group_members ?? []) putMembership(snapshot, row);
  for (const row of rows.subgroups ?? []) putSubgroup(snapshot, row);
  for (const row of rows.role_bindings ?? []) putRoleBinding(snapshot, row);
  for (const row of rows.ended_tokens ?? []) putEndedToken(snapshot, row);
}
