// The rules of access as plainly as they can be written: arrays of rows, filters, and no thought of speed. The engine is
// held to it.
import type { Resource } from "../../../src/access/engine/resource.ts";
import type { PredefinedRoles } from "../../../src/access/engine/role-table.ts";
import type {
  GroupRow,
  MemberRow,
  MembershipRow,
  OrgRow,
  ProjectRow,
  RoleBindingRow,
  RoleRow,
  SubgroupRow,
  Time,
} from "../../../src/access/engine/rows.ts";

export interface ModelRows {
  org: OrgRow & { revision: string };
  members: MemberRow[];
  groups: GroupRow[];
  projects: ProjectRow[];
  roles: RoleRow[];
  group_members: MembershipRow[];
  subgroups: SubgroupRow[];
  role_bindings: RoleBindingRow[];
}

/** What the model's conditions are asked about. */
export interface ModelContext {
  readonly resource: Resource;
  /** The id of the member or group. */
  readonly subject: string;
}

export interface ModelQuestion {
  readonly kind: "member" | "group";
  readonly id: string;
  readonly permission: string;
  readonly resource: Resource;
  readonly now: number;
}

/** Conditions that hold, do not, depend on what is asked, or are wrong in some way. */
export const conditions: Readonly<Record<string, (context: ModelContext) => unknown>> = {
  yes: () => true,
  no: () => false,
  "on a project with an even id": ({ resource }) =>
    resource.kind === "project" && Number.parseInt(resource.projectId.slice(-1), 16) % 2 === 0,
  "for a subject with an even id": ({ subject }) => Number.parseInt(subject.slice(-1), 16) % 2 === 0,
  text: () => "true",
  throws: () => {
    throw new Error("no such attribute");
  },
};

/** Like the service's, it refuses what it does not know. */
export function compileCondition(expression: string): (context: unknown) => unknown {
  const condition = conditions[expression];
  if (condition === undefined) throw new Error("does not compile");
  return (context) => condition(context as ModelContext);
}

export const predefinedRoles: PredefinedRoles = {
  owner: { permissions: "*", except: [] },
  admin: { permissions: "*", except: ["iam.orgs.delete", "compute.instances.start"] },
  viewer: { permissions: ["iam.members.get"], except: [] },
};

export function naiveDecide(rows: ModelRows, question: ModelQuestion): boolean {
  return naiveHolds(rows, question).length > 0;
}

/** The bindings that give the permission. */
function naiveHolds(rows: ModelRows, question: ModelQuestion): RoleBindingRow[] {
  if (isDeleted(rows.org)) return [];
  if (question.kind === "member") {
    const member = rows.members.find(({ id }) => id === question.id);
    if (member === undefined || isDeleted(member) || member.state !== "ACTIVE") return [];
  } else if (!rows.groups.some(({ id }) => id === question.id)) {
    return [];
  }
  const groups = groupsAround(rows, question);
  return rows.role_bindings.filter(
    (binding) =>
      (binding.subject_type === "group"
        ? groups.has(binding.subject_id)
        : question.kind === "member" && question.id === binding.subject_id) &&
      isInScope(rows, binding, question.resource) &&
      roleHolds(rows, binding, question.permission) &&
      timeOf(binding.start_time, -Infinity) <= question.now &&
      question.now < timeOf(binding.expire_time, Infinity) &&
      (binding.condition === "" || conditionHolds(binding.condition, question)),
  );
}

function groupsAround(rows: ModelRows, { kind, id, now }: ModelQuestion): Set<string> {
  const groups = new Set(
    kind === "group"
      ? [id]
      : rows.group_members
          .filter((row) => row.member_id === id && now < timeOf(row.expire_time, Infinity))
          .map((row) => row.group_id),
  );
  for (const group of groups) {
    for (const row of rows.subgroups) if (row.subgroup_id === group) groups.add(row.group_id);
  }
  return groups;
}

function isInScope(rows: ModelRows, { scope_type: type, scope_id: id }: RoleBindingRow, resource: Resource): boolean {
  if (type === "platform") return true;
  if (resource.kind === "platform") return false;
  if (type === "customer") return id === resource.customerId;
  if (resource.kind === "customer") return false;
  if (type === "org") return id === resource.orgId;
  if (resource.kind === "org") return false;
  const project = rows.projects.find((row) => row.id === id);
  return project !== undefined && !isDeleted(project) && id === resource.projectId && resource.orgId === rows.org.id;
}

function roleHolds(
  rows: ModelRows,
  { role_id: id, predefined_role: name }: RoleBindingRow,
  permission: string,
): boolean {
  if (id !== null) return rows.roles.some((role) => role.id === id && role.permissions.includes(permission));
  const role = predefinedRoles[name ?? ""];
  if (role === undefined) return false;
  return role.permissions === "*" ? !role.except.includes(permission) : role.permissions.includes(permission);
}

function conditionHolds(condition: string, { id, resource }: ModelQuestion): boolean {
  try {
    return compileCondition(condition)({ resource, subject: id }) === true;
  } catch {
    return false;
  }
}

export function naiveListSubjects(rows: ModelRows, question: Omit<ModelQuestion, "kind" | "id">): string[] {
  return rows.members
    .map(({ id }) => id)
    .filter((id) => naiveDecide(rows, { ...question, kind: "member", id }))
    .toSorted();
}

export function naiveListProjects(rows: ModelRows, question: Omit<ModelQuestion, "resource">): string[] {
  return rows.projects
    .filter((row) => !isDeleted(row))
    .map(({ id }) => id)
    .filter((id) => naiveDecide(rows, { ...question, resource: projectOf(rows, id) }))
    .toSorted();
}

/** The least number of groups between the subject and a binding that gives it the permission. */
export function naiveDistance(rows: ModelRows, question: ModelQuestion): number | undefined {
  const holding = naiveHolds(rows, question);
  const reach = question.kind === "member" ? memberGroups(rows, question) : [question.id];
  if (holding.some(({ subject_type: type }) => type === "member")) return 0;
  let level = new Set(reach);
  const first = question.kind === "member" ? 1 : 0;
  for (let distance = first; distance <= rows.groups.length + 1; distance++) {
    const here = level;
    if (holding.some(({ subject_id: id }) => here.has(id))) return distance;
    level = new Set(rows.subgroups.filter((row) => here.has(row.subgroup_id)).map((row) => row.group_id));
  }
  return undefined;
}

function memberGroups(rows: ModelRows, { id, now }: ModelQuestion): string[] {
  return rows.group_members
    .filter((row) => row.member_id === id && now < timeOf(row.expire_time, Infinity))
    .map((row) => row.group_id);
}

/** The roles that hold a permission, by what `explain` tells about them, smallest first. */
export function naiveRolesWith(rows: ModelRows, permission: string): object[] {
  const predefined = Object.entries(predefinedRoles)
    .filter(([, { permissions: held, except }]) =>
      held === "*" ? !except.includes(permission) : held.includes(permission),
    )
    .map(([name, { permissions: held }]) => ({ size: held === "*" ? Infinity : held.length, name, id: "" }));
  const custom = rows.roles
    .filter((role) => role.permissions.includes(permission))
    .map(({ id, name, permissions }) => ({ size: new Set(permissions).size, name, id }));
  const order = (one: { name: string; id: string }, other: { name: string; id: string }): number =>
    `${one.name} ${one.id}` < `${other.name} ${other.id}` ? -1 : 1;
  return [...predefined, ...custom]
    .toSorted((one, other) => (one.size === other.size ? order(one, other) : one.size < other.size ? -1 : 1))
    .map(({ name, id }) => (id === "" ? { kind: "predefined", name } : { kind: "custom", id }));
}

export function projectOf(rows: ModelRows, projectId: string): Resource {
  return { kind: "project", customerId: rows.org.customer_id, orgId: rows.org.id, projectId };
}

export function isDeleted({ delete_time: time }: { readonly delete_time?: Time }): boolean {
  return time !== null && time !== undefined;
}

function timeOf(time: Time, none: number): number {
  return time === null ? none : new Date(time).getTime();
}
