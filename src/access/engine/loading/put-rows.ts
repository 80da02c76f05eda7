// Puts single rows into a snapshot. Each row only adds access. So a row that refers to something unknown is left out, and
// putting a row again changes nothing.
import type { EntityTable } from "../tables/entity-table.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import {
  type EndedTokenRow,
  type GroupRow,
  type MemberRow,
  type MembershipRow,
  type ProjectRow,
  type RoleBindingRow,
  type RoleRow,
  type SubgroupRow,
  projectStateOf,
  readTime,
  stateOf,
} from "./rows.ts";
import { subjectNumber } from "../tables/subject.ts";

export function putMember({ members, tokens }: OrgSnapshot, row: MemberRow): void {
  members.put(row.id, row.name, stateOf(row));
  tokens.putGen(row.id, row.token_gen ?? null);
}

export function putEndedToken({ tokens }: OrgSnapshot, row: EndedTokenRow): void {
  tokens.end(row.id, row.type, readTime(row.end_time, 0));
}

export function putProject({ projects, labels }: OrgSnapshot, row: ProjectRow): void {
  projects.put(row.id, row.name, projectStateOf(row));
  labels.put(row.id, row.labels);
}

export function putGroup({ groups, closure }: OrgSnapshot, row: GroupRow): void {
  const state = stateOf(row);
  const known = groups.findById(row.id);
  if (known !== 0 && groups.stateOf(known) !== state) closure.forget();
  groups.put(row.id, row.name, state);
}

export function putRole({ roles }: OrgSnapshot, row: RoleRow): void {
  roles.putCustom(row.id, row.name, stateOf(row), row.permissions);
}

export function putMembership({ members, groups, memberships }: OrgSnapshot, row: MembershipRow): void {
  const member = members.findById(row.member_id);
  const group = groups.findById(row.group_id);
  if (member !== 0 && group !== 0) memberships.put(member, group, readTime(row.expire_time, Infinity));
}

function removeMembership({ members, groups, memberships }: OrgSnapshot, row: MembershipRow): void {
  const member = members.findById(row.member_id);
  const group = groups.findById(row.group_id);
  if (member !== 0 && group !== 0) memberships.removeBetween(member, group);
}

export function putSubgroup({ groups, nestings, closure }: OrgSnapshot, row: SubgroupRow): void {
  const inner = groups.findById(row.subgroup_id);
  const outer = groups.findById(row.group_id);
  if (inner === 0 || outer === 0) return;
  nestings.put(inner, outer, Infinity);
  closure.forget();
}

function removeSubgroup({ groups, nestings, closure }: OrgSnapshot, row: SubgroupRow): void {
  const inner = groups.findById(row.subgroup_id);
  const outer = groups.findById(row.group_id);
  if (inner === 0 || outer === 0) return;
  nestings.removeBetween(inner, outer);
  closure.forget();
}

export function putRoleBinding(snapshot: OrgSnapshot, row: RoleBindingRow): void {
  const { bindings, roles } = snapshot;
  const subject = tableOf(snapshot, row.subject_type).findById(row.subject_id);
  const scope = scopeOf(snapshot, row);
  const role =
    row.role_id === null ? roles.findPredefined(row.predefined_role ?? "") : roles.custom.findById(row.role_id);
  if (subject === 0 || scope === 0 || role === 0) {
    // The earlier version of the binding must not stay.
    bindings.removeById(row.id);
    return;
  }
  bindings.put(row.id, {
    subject: subjectNumber(row.subject_type, subject),
    scope,
    role,
    startTime: readTime(row.start_time, -Infinity),
    expireTime: readTime(row.expire_time, Infinity),
    condition: row.condition,
  });
}

/** The types of rows that refer to other rows, by their names in the change log. */
export type ReferenceType = "RoleBinding" | "GroupMember" | "Subgroup";

/** Puts such a row, or removes it: a role binding by its id, another by its previous content. */
export function moveReference(
  snapshot: OrgSnapshot,
  type: ReferenceType,
  id: string,
  from: object | null,
  to: object | null,
): void {
  switch (type) {
    case "RoleBinding":
      if (to !== null) putRoleBinding(snapshot, to as RoleBindingRow);
      else snapshot.bindings.removeById(id);
      return;
    case "GroupMember":
      if (to !== null) putMembership(snapshot, to as MembershipRow);
      else removeMembership(snapshot, from as MembershipRow);
      return;
    case "Subgroup":
      if (to !== null) putSubgroup(snapshot, to as SubgroupRow);
      else removeSubgroup(snapshot, from as SubgroupRow);
  }
}

function tableOf({ members, groups }: OrgSnapshot, kind: RoleBindingRow["subject_type"]): EntityTable {
  return kind === "member" ? members : groups;
}

function scopeOf({ scopes, projects, org }: OrgSnapshot, row: RoleBindingRow): number {
  const id = row.scope_id ?? "";
  switch (row.scope_type) {
    case "platform":
      return scopes.platform;
    case "customer":
    case "service":
      return scopes.putOuter(row.scope_type, id);
    case "org":
      return id === org.id ? scopes.org : 0;
    case "project": {
      const project = projects.findById(id);
      return project === 0 ? 0 : scopes.putProject(project);
    }
  }
}
