// A reference model of the rules of access: arrays of rows and filters, without regard to speed. Tests compare the engine
// with it.
import type { TargetScope } from "../../../src/access/engine/decisions/target-scope.ts";
import type { CompiledCondition } from "../../../src/access/engine/tables/condition-table.ts";
import type { PredefinedRoles, RolePermissions } from "../../../src/access/engine/tables/role-table.ts";
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
} from "../../../src/access/engine/loading/rows.ts";

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

/** The input of the model's conditions. */
export interface ModelContext {
  readonly resource: TargetScope;
  /** The id of the member or group. */
  readonly subject: string;
}

export interface ModelQuestion {
  readonly kind: "member" | "group";
  readonly id: string;
  readonly permission: string;
  readonly resource: TargetScope;
  readonly now: number;
  /** The ids of the bindings that count for the subject. */
  readonly counted: "all" | ReadonlySet<string>;
}

/** Conditions that are true, false, depend on the context, or do not return a boolean. */
export const conditions: Readonly<Record<string, (context: ModelContext) => unknown>> = {
  yes: () => true,
  no: () => false,
  "on a project with an even id": ({ resource }) =>
    resource.kind === "project" && Number.parseInt(resource.projectId.slice(-1), 16) % 2 === 0,
  "for a subject with an even id": ({ subject }) => Number.parseInt(subject.slice(-1), 16) % 2 === 0,
  text: () => "true",
};

/** Rejects unknown expressions, like the compiler of the service. */
export function compileCondition(expression: string): CompiledCondition {
  const condition = conditions[expression];
  if (condition === undefined) throw new Error("does not compile");
  const isForAll = !expression.includes("subject");
  return Object.assign((context: unknown) => condition(context as ModelContext), { isForAll });
}

export const predefinedRoles: PredefinedRoles = {
  owner: { permissions: "*" },
  admin: { permissions: ["iam.orgs.get", "iam.members.get", "iam.roleBindings.create", "*.*.*"] },
  viewer: { permissions: ["iam.members.get"] },
  reader: { permissions: ["iam.members.get", "compute.instances.start", "*.*.get", "*.*.list"] },
  operator: { permissions: ["iam.roleBindings.create", "*.*.*"] },
};

export function naiveDecide(rows: ModelRows, query: ModelQuestion): boolean {
  return naiveHolds(rows, query).length > 0;
}

/** Returns the bindings that grant the permission. */
function naiveHolds(rows: ModelRows, query: ModelQuestion): RoleBindingRow[] {
  if (isDeleted(rows.org)) return [];
  if (query.kind === "member") {
    const member = rows.members.find(({ id }) => id === query.id);
    if (member === undefined || isDeleted(member) || member.state !== "ACTIVE") return [];
  } else if (!rows.groups.some(({ id }) => id === query.id)) {
    return [];
  }
  const groups = groupsAround(rows, query);
  return rows.role_bindings.filter(
    (binding) =>
      (binding.subject_type === "group"
        ? groups.has(binding.subject_id)
        : query.kind === "member" && query.id === binding.subject_id) &&
      (query.counted === "all" || query.counted.has(binding.id)) &&
      isInScope(rows, binding, query.resource) &&
      roleHolds(rows, binding, query.permission) &&
      timeOf(binding.start_time, -Infinity) <= query.now &&
      query.now < timeOf(binding.expire_time, Infinity) &&
      (binding.condition === "" || conditionHolds(binding.condition, query)),
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

function isInScope(
  rows: ModelRows,
  { scope_type: type, scope_id: id }: RoleBindingRow,
  resource: TargetScope,
): boolean {
  if (type === "platform") return true;
  if (resource.kind === "platform") return false;
  if (type === "service") return resource.kind === "service" && id === resource.serviceId;
  if (resource.kind === "service") return false;
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
  return role !== undefined && predefinedHolds(role, permission);
}

function predefinedHolds({ permissions }: RolePermissions, permission: string): boolean {
  if (permissions === "*") return true;
  return permissions.includes(permission) || permissions.some((each) => isOfOthers(each, permission));
}

/** Wildcards stand for permissions of other services alone. */
function isOfOthers(wildcard: string, permission: string): boolean {
  const [area = "", , verb = "", ...more] = permission.split(".");
  if (more.length > 0 || verb === "" || ["iam", "resources"].includes(area)) return false;
  return wildcard === "*.*.*" || wildcard === `*.*.${verb}`;
}

/** A permission of each sort that nobody names: of this service, and to get, list or do something else in another one. */
export const unnamed = ["iam.nobody.names", "nobody.names.get", "nobody.names.list", "nobody.names.this"] as const;

function conditionHolds(condition: string, { id, resource }: ModelQuestion): boolean {
  try {
    return compileCondition(condition)({ resource, subject: id }) === true;
  } catch {
    return false;
  }
}

export function naiveListSubjects(rows: ModelRows, query: Omit<ModelQuestion, "kind" | "id" | "counted">): string[] {
  return rows.members
    .map(({ id }) => id)
    .filter((id) => naiveDecide(rows, { ...query, kind: "member", id, counted: "all" }))
    .toSorted();
}

export function naiveListProjects(rows: ModelRows, query: Omit<ModelQuestion, "resource">): string[] {
  return rows.projects
    .filter((row) => !isDeleted(row))
    .map(({ id }) => id)
    .filter((id) => naiveDecide(rows, { ...query, resource: projectOf(rows, id) }))
    .toSorted();
}

/** Returns the least number of groups between the subject and a binding that grants it the permission. */
export function naiveDistance(rows: ModelRows, query: ModelQuestion): number | undefined {
  const holding = naiveHolds(rows, query);
  const effectiveGroups = query.kind === "member" ? memberGroups(rows, query) : [query.id];
  if (holding.some(({ subject_type: type }) => type === "member")) return 0;
  let level = new Set(effectiveGroups);
  const first = query.kind === "member" ? 1 : 0;
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

interface NaiveRole {
  readonly name: string;
  /** Empty for a predefined role. */
  readonly id: string;
  readonly permissions: readonly string[] | "*";
}

/**
 * Returns the roles and grantors that `explain` lists for a subject without a permission: the roles that contain it,
 * smallest first, and the members who can grant the first one.
 */
export function naiveDenial(rows: ModelRows, query: ModelQuestion): { roles: object[]; grantors: string[] } {
  const resource = naiveBindable(rows, query.resource);
  const roles = naiveRolesWith(rows, query.permission).filter(
    ({ id }) => id === "" || resource.kind === "org" || resource.kind === "project",
  );
  const [smallest] = roles;
  const grantors = rows.members
    .map(({ id }) => id)
    .filter((id) => {
      const asked = { ...query, kind: "member", id, resource, counted: "all" } as const;
      return smallest !== undefined && naiveMayBind(rows, asked, smallest);
    })
    .toSorted();
  return {
    roles: roles.map(({ name, id }) => (id === "" ? { kind: "predefined", name } : { kind: "custom", id })),
    grantors,
  };
}

/** In another org, only bindings above both orgs count. */
function naiveBindable({ org }: ModelRows, resource: TargetScope): TargetScope {
  if (!("orgId" in resource) || resource.orgId === org.id) return resource;
  const { customerId } = resource;
  return customerId === org.customer_id ? { kind: "customer", customerId } : { kind: "platform" };
}

/** Whether somebody lacks any permission of a predefined role. What is held under a condition does not count. */
export function naiveLacks(rows: ModelRows, query: ModelQuestion, name: string): boolean {
  const role = predefinedRoles[name];
  return (
    role !== undefined &&
    [...namedIn(rows), ...unnamed].some(
      (permission) => predefinedHolds(role, permission) && !holdsAlways(rows, query, permission),
    )
  );
}

function holdsAlways(rows: ModelRows, query: ModelQuestion, permission: string): boolean {
  return naiveHolds(rows, { ...query, permission }).some(({ condition }) => condition === "");
}

function naiveMayBind(rows: ModelRows, query: ModelQuestion, role: NaiveRole): boolean {
  // A permission under a condition does not suffice to grant it.
  const holds = (permission: string): boolean => holdsAlways(rows, query, permission);
  if (!naiveDecide(rows, { ...query, permission: "iam.roleBindings.create" })) return false;
  if (holds("iam.roleBindings.grantUnheld")) return true;
  const isGranted = (permission: string): boolean =>
    role.id === "" ? predefinedHolds(role, permission) : role.permissions.includes(permission);
  // All permissions that some role names, and some that no role names.
  return [...namedIn(rows), ...unnamed].filter(isGranted).every(holds);
}

function namedIn({ roles }: ModelRows): string[] {
  const ofPredefined = Object.values(predefinedRoles).flatMap(({ permissions }) =>
    permissions === "*" ? [] : permissions,
  );
  return [...roles.flatMap(({ permissions }) => permissions), ...ofPredefined];
}

function naiveRolesWith(rows: ModelRows, permission: string): NaiveRole[] {
  const predefined = Object.entries(predefinedRoles).map(([name, role]) => ({ name, id: "", ...role }));
  const custom = rows.roles.map(({ id, name, permissions }) => ({ id, name, permissions }));
  // What is held of every service is more than any list.
  const sizeOf = ({ permissions, id }: NaiveRole): number => {
    if (permissions === "*") return Infinity;
    const wild = id === "" ? permissions.filter((each) => each.startsWith("*.*.")) : [];
    const sorts = wild.reduce((sum, each) => sum + (each === "*.*.*" ? 3 : 1), 0);
    return sorts * 1e6 + new Set(permissions).size - wild.length;
  };
  const keyOf = ({ name, id }: NaiveRole): string => `${name} ${id}`;
  return [...predefined, ...custom]
    .filter((role) => (role.id === "" ? predefinedHolds(role, permission) : role.permissions.includes(permission)))
    .toSorted((one, other) => {
      const [size, otherSize] = [sizeOf(one), sizeOf(other)];
      return size === otherSize ? (keyOf(one) < keyOf(other) ? -1 : 1) : size - otherSize;
    });
}

export function projectOf(rows: ModelRows, projectId: string): TargetScope {
  return { kind: "project", customerId: rows.org.customer_id, orgId: rows.org.id, projectId };
}

export function isDeleted({ delete_time: time }: { readonly delete_time?: Time }): boolean {
  return time !== null && time !== undefined;
}

function timeOf(time: Time, none: number): number {
  return time === null ? none : new Date(time).getTime();
}
