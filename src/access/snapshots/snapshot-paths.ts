// Paths of resources in a snapshot, with the names that they have there.
import { formatPath } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import type { EntityTable } from "../engine/tables/entity-table.ts";
import type { SubjectReference } from "../engine/decisions/find-grant.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { RoleIdentity } from "../engine/tables/role-table.ts";

export function orgPathIn(snapshot: OrgSnapshot): string {
  return formatPath(patterns.Org, orgName(snapshot));
}

export function subjectPathIn(snapshot: OrgSnapshot, subject: SubjectReference): string {
  const table = subject.kind === "member" ? snapshot.members : snapshot.groups;
  const id = "id" in subject ? subject.id : table.idOf(subject.record);
  return subject.kind === "member" ? memberPathIn(snapshot, id) : groupPathIn(snapshot, id);
}

export function memberPathIn(snapshot: OrgSnapshot, id: string): string {
  return formatPath(patterns.Member, orgName(snapshot), nameIn(snapshot.members, id));
}

export function groupPathIn(snapshot: OrgSnapshot, id: string): string {
  return formatPath(patterns.Group, orgName(snapshot), nameIn(snapshot.groups, id));
}

export function projectPathIn(snapshot: OrgSnapshot, id: string): string {
  return formatPath(patterns.Project, orgName(snapshot), nameIn(snapshot.projects, id));
}

export function rolePathIn(snapshot: OrgSnapshot, role: RoleIdentity): string {
  return role.kind === "predefined"
    ? formatPath(otherPatterns.predefinedRole, role.name)
    : formatPath(patterns.Role, orgName(snapshot), nameIn(snapshot.roles.custom, role.id));
}

function orgName({ org }: OrgSnapshot): string {
  return org.state === "DELETED" ? `@${org.id}` : org.name;
}

/** Returns the name of an entity, or `@` and its id if it is deleted. */
function nameIn(table: EntityTable, id: string): string {
  return table.nameOf(table.findById(id)) || `@${id}`;
}
