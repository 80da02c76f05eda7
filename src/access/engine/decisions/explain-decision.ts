import { isCounted } from "./counted-bindings.ts";
import type { AccessQuery } from "./decide.ts";
import type { EntityState } from "../tables/entity-table.ts";
import { activeSubject } from "./find-grant.ts";
import { bindableAt, listGrantorsInSteps } from "./list-grantors.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import type { Steps } from "../../../scheduling/steps.ts";
import { type TargetScope, scopesOf } from "./target-scope.ts";
import type { RoleIdentity } from "../tables/role-table.ts";
import type { ScopeIdentity } from "../tables/scope-table.ts";
import { type Inside, groupsTo, levelsFrom } from "./levels-of-groups.ts";
import { type Subject, subjectNumber } from "../tables/subject.ts";

/** Why `decide` returns what it returns. */
export type Explanation = Allowed | Denied;

/**
 * One way in which the subject has the permission: the one through the fewest groups, then with the scope nearest to the
 * resource, then with the smallest binding id.
 */
export interface Allowed extends Way {
  readonly allowed: true;
}

/** How a binding reaches the subject. */
export interface Way {
  /** The ids of the groups on the way: the subject is in the first one, each is nested in the next, and the last is bound. */
  readonly groups: readonly string[];
  readonly binding: { readonly id: string; readonly scope: ScopeIdentity };
  readonly role: RoleIdentity;
}

/** A binding with the permission whose condition does not hold. */
interface UnmetWay extends Way {
  readonly condition: string;
}

export interface Denied {
  readonly allowed: false;
  /** The state of the subject; undefined if it does not exist. A subject that is not ACTIVE has no permissions. */
  readonly subjectState: EntityState | undefined;
  readonly orgState: EntityState;
  /** The bindings that would give the permission if their conditions held, in the order in which `Allowed` prefers them. */
  readonly unmet: readonly UnmetWay[];
  /** The roles that have the permission and could be bound, those with the fewest permissions first. */
  readonly roles: readonly RoleIdentity[];
  /** The ids of members who can bind the first of these roles, in order. */
  readonly grantors: readonly string[];
}

export interface ExplainOptions {
  /** How many bindings with conditions that do not hold are named; none unless set. */
  readonly maxUnmet?: number;
  readonly maxRoles: number;
  readonly maxGrantors: number;
  /** Returns the input of a member's conditions when it binds a role on the resource; of no member, for those that do not read the subject. */
  readonly contextOf: (member: number | undefined, resource: TargetScope) => unknown;
}

/** Explains a decision. The snapshot must not change between the steps. */
export function* explainInSteps(
  snapshot: OrgSnapshot,
  query: AccessQuery,
  options: ExplainOptions,
): Steps<Explanation> {
  const subject = activeSubject(snapshot, query.subject);
  const found = subject === undefined ? [] : findPath(snapshot, subject, query, options.maxUnmet ?? 0);
  if ("allowed" in found) return found;
  const { now } = query;
  const resource = bindableAt(snapshot, query.resource);
  const roles = rolesWith(snapshot, query.permission, resource);
  const [role] = roles;
  const { maxRoles, maxGrantors: limit } = options;
  const contextOf = (member: number | undefined): unknown => options.contextOf(member, resource);
  const wanted = role === undefined ? undefined : { role, resource, now, contextOf, limit };
  return {
    allowed: false,
    subjectState: stateOfSubject(snapshot, query),
    orgState: snapshot.org.state,
    unmet: found,
    roles: roles.slice(0, maxRoles).map(snapshot.roles.identityOf),
    grantors: wanted === undefined ? [] : yield* listGrantorsInSteps(snapshot, wanted),
  };
}

/**
 * Searches breadth first: the subject, then its groups, then the groups in which these are nested, and so on.
 *
 * @returns the way that was found, or else those whose conditions do not hold, at most `maxUnmet`.
 */
function findPath(
  snapshot: OrgSnapshot,
  subject: Subject,
  query: AccessQuery,
  maxUnmet: number,
): Allowed | readonly UnmetWay[] {
  const unmet: number[] = [];
  const scopes = scopesOf(snapshot, query.resource);
  const inside: Inside = new Map();
  for (const level of levelsFrom(snapshot, subjectNumber(subject.kind, subject.record), query.now, inside)) {
    const binding = findOnLevel(snapshot, level, scopes, query, unmet);
    if (binding !== 0) return { allowed: true, ...describePath(snapshot, binding, inside) };
  }
  return unmet.slice(0, maxUnmet).map((binding) => ({
    ...describePath(snapshot, binding, inside),
    condition: snapshot.bindings.conditionOf(binding),
  }));
}

/** @param unmet receives the bindings whose conditions do not hold. */
function findOnLevel(
  snapshot: OrgSnapshot,
  level: readonly number[],
  scopes: readonly number[],
  { permission, now, conditionContext, counted }: AccessQuery,
  unmet: number[],
): number {
  const { bindings, roles } = snapshot;
  const wanted = roles.permissions.find(permission);
  for (const scope of scopes) {
    let found = 0;
    const failed: number[] = [];
    for (const subject of level) {
      const cell = bindings.findCell(subject, scope);
      let binding = cell === 0 ? 0 : bindings.firstOfCell(cell);
      for (; binding !== 0; binding = bindings.nextOfCell(binding)) {
        if (!roles.has(bindings.roleOf(binding), wanted) || !bindings.holdsAt(binding, now)) continue;
        if (found !== 0 && bindings.compare(binding, found) > 0) continue;
        if (!isCounted(snapshot, counted, binding)) continue;
        if (bindings.conditionHolds(binding, conditionContext)) found = binding;
        else failed.push(binding);
      }
    }
    if (found !== 0) return found;
    unmet.push(...failed.toSorted(bindings.compare));
  }
  return 0;
}

function describePath(snapshot: OrgSnapshot, binding: number, inside: Inside): Way {
  const { bindings, roles, scopes } = snapshot;
  const cell = bindings.cellOf(binding);
  return {
    groups: groupsTo(snapshot, bindings.subjectOf(cell), inside),
    binding: { id: bindings.idOf(binding), scope: scopes.identityOf(bindings.scopeOf(cell)) },
    role: roles.identityOf(bindings.roleOf(binding)),
  };
}

function stateOfSubject({ members, groups }: OrgSnapshot, { subject }: AccessQuery): EntityState | undefined {
  const table = subject.kind === "member" ? members : groups;
  const record = "record" in subject ? subject.record : table.findById(subject.id);
  return record === 0 ? undefined : table.stateOf(record);
}

/**
 * Returns the records of the roles that have the permission and can be bound on the resource, in the order of `Denied.roles`.
 * Custom roles can be bound only in their org.
 */
function rolesWith({ roles }: OrgSnapshot, permission: string, { kind }: TargetScope): number[] {
  const isInOrg = kind === "org" || kind === "project";
  return roles
    .having(roles.permissions.find(permission))
    .map((role) => ({ role, identity: roles.identityOf(role) }))
    .filter(({ identity }) => isInOrg || identity.kind === "predefined")
    .map(({ role, identity }) => {
      const id = identity.kind === "custom" ? identity.id : "";
      return { role, key: [roles.sizeOf(role), roles.nameOf(role), id] };
    })
    .toSorted((one, other) => compareKeys(one.key, other.key))
    .map(({ role }) => role);
}

function compareKeys(one: readonly (number | string)[], other: readonly (number | string)[]): number {
  const index = one.findIndex((part, at) => part !== other[at]);
  return index === -1 ? 0 : (one[index] ?? 0) < (other[index] ?? 0) ? -1 : 1;
}
