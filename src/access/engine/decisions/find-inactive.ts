import type { MembershipRow, RoleBindingRow } from "../loading/rows.ts";
import { readTime } from "../loading/rows.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import type { Steps } from "../../../scheduling/steps.ts";
import type { RoleIdentity } from "../tables/role-table.ts";
import { recordOf, subjectNumber } from "../tables/subject.ts";
import type { AccessQuery } from "./decide.ts";
import { activeSubject } from "./find-grant.ts";
import { type Inside, groupsTo, levelsFrom } from "./levels-of-groups.ts";
import { type TargetScope, scopesOf } from "./target-scope.ts";

/** What has ended and is no longer in the snapshot. */
export interface EndedRows {
  readonly bindings: readonly RoleBindingRow[];
  /** Of the subject. */
  readonly memberships: readonly MembershipRow[];
}

/** How a binding would reach the subject, perhaps on a condition, that does not do so now. */
export interface InactiveWay {
  /** The ids of the groups on the way, as in `Way`. */
  readonly groups: readonly string[];
  readonly bindingId: string;
  readonly role: RoleIdentity;
  /** When the binding begins, if that is later than now. In milliseconds. */
  readonly startTime: number | undefined;
  /** When the binding has ended, or the membership in the first of the groups. In milliseconds. */
  readonly expireTime: number | undefined;
}

type Query = Pick<AccessQuery, "subject" | "permission" | "resource" | "now">;

/** Where a way is searched: the scopes that apply to the resource, and the permission by its number. */
interface Search {
  readonly scopes: readonly number[];
  readonly wanted: number;
  readonly now: number;
}

/**
 * Returns the bindings that would give the permission at another time: those that begin later, the next one first, and those that have
 * ended, or through a membership that has, the latest first.
 */
export function* findInactiveInSteps(
  snapshot: OrgSnapshot,
  query: Query,
  ended: EndedRows,
  limit: number,
): Steps<InactiveWay[]> {
  const subject = activeSubject(snapshot, query.subject);
  if (subject === undefined) return [];
  const { now, resource, permission } = query;
  const search = { scopes: scopesOf(snapshot, resource), wanted: snapshot.roles.permissions.find(permission), now };
  const inside: Inside = new Map();
  const found: InactiveWay[] = [];
  for (const level of levelsFrom(snapshot, subjectNumber(subject.kind, subject.record), now, inside)) {
    for (const binding of bindingsOn(snapshot, level, search)) {
      if (snapshot.bindings.holdsAt(binding, now)) continue;
      found.push({ ...timesOf(snapshot, binding, now), ...describe(snapshot, binding, inside) });
    }
    yield;
  }
  found.push(...ended.bindings.flatMap((row) => wayOfRow(snapshot, row, resource, search.wanted, inside) ?? []));
  const memberships = subject.kind === "member" ? endedMemberships(snapshot, subject.record, ended, now) : [];
  for (const { group, expireTime } of memberships) {
    yield;
    if (inside.has(subjectNumber("group", group))) continue;
    const way = wayThrough(snapshot, group, expireTime, search);
    if (way !== undefined) found.push(way);
  }
  const once = new Map<string, InactiveWay>();
  // The first of each binding stays.
  for (const way of found.toSorted(compareTimes)) once.set(way.bindingId, once.get(way.bindingId) ?? way);
  return [...once.values()].slice(0, limit);
}

/** Returns the bindings of these subjects on the scopes whose roles have the permission. */
function* bindingsOn(
  { bindings, roles }: OrgSnapshot,
  subjects: readonly number[],
  { scopes, wanted }: Search,
): Iterable<number> {
  for (const scope of scopes) {
    for (const subject of subjects) {
      const cell = bindings.findCell(subject, scope);
      let binding = cell === 0 ? 0 : bindings.firstOfCell(cell);
      for (; binding !== 0; binding = bindings.nextOfCell(binding)) {
        if (roles.has(bindings.roleOf(binding), wanted)) yield binding;
      }
    }
  }
}

function timesOf({ bindings }: OrgSnapshot, binding: number, now: number) {
  const { startTime, expireTime } = bindings.timesOf(binding);
  return expireTime <= now ? { startTime: undefined, expireTime } : { startTime, expireTime: undefined };
}

function describe(snapshot: OrgSnapshot, binding: number, inside: Inside) {
  const { bindings, roles } = snapshot;
  return {
    groups: groupsTo(snapshot, bindings.subjectOf(bindings.cellOf(binding)), inside),
    bindingId: bindings.idOf(binding),
    role: roles.identityOf(bindings.roleOf(binding)),
  };
}

/** Returns undefined unless the binding would give the permission. */
function wayOfRow(
  snapshot: OrgSnapshot,
  row: RoleBindingRow,
  resource: TargetScope,
  wanted: number,
  inside: Inside,
): InactiveWay | undefined {
  const { members, groups, roles } = snapshot;
  const record = (row.subject_type === "member" ? members : groups).findById(row.subject_id);
  const role =
    row.role_id === null ? roles.findPredefined(row.predefined_role ?? "") : roles.custom.findById(row.role_id);
  if (record === 0 || role === 0 || !roles.has(role, wanted)) return undefined;
  const subject = subjectNumber(row.subject_type, record);
  if (!inside.has(subject) || !isAbove(row, resource)) return undefined;
  return {
    groups: groupsTo(snapshot, subject, inside),
    bindingId: row.id,
    role: roles.identityOf(role),
    startTime: undefined,
    expireTime: readTime(row.expire_time, 0),
  };
}

/** Reports whether what is bound on the scope of a row applies to the resource. */
function isAbove({ scope_type: kind, scope_id: id }: RoleBindingRow, resource: TargetScope): boolean {
  switch (kind) {
    case "platform":
      return true;
    case "customer":
      return "customerId" in resource && resource.customerId === id;
    case "service":
      return resource.kind === "service" && resource.serviceId === id;
    case "org":
      return "orgId" in resource && resource.orgId === id;
    case "project":
      return resource.kind === "project" && resource.projectId === id;
  }
}

interface EndedMembership {
  readonly group: number;
  readonly expireTime: number;
}

/** Returns the groups that a member was in until their ends. */
function endedMemberships(
  { groups, memberships }: OrgSnapshot,
  member: number,
  { memberships: rows }: EndedRows,
  now: number,
): EndedMembership[] {
  const found: EndedMembership[] = rows.map((row) => ({
    group: groups.findById(row.group_id),
    expireTime: readTime(row.expire_time, 0),
  }));
  for (let edge = memberships.firstFrom(member); edge !== 0; edge = memberships.nextFrom(edge)) {
    if (memberships.holdsAt(edge, now)) continue;
    found.push({ group: memberships.groupOf(edge), expireTime: memberships.expireTimeOf(edge) });
  }
  return found.filter(({ group }) => group !== 0 && groups.isLive(group));
}

/** Returns the way through a group that the subject has left, with the fewest groups; undefined if there is none. */
function wayThrough(snapshot: OrgSnapshot, group: number, expireTime: number, search: Search): InactiveWay | undefined {
  const inside: Inside = new Map();
  const start = subjectNumber("group", group);
  for (const level of levelsFrom(snapshot, start, search.now, inside)) {
    for (const binding of bindingsOn(snapshot, level, search)) {
      if (!snapshot.bindings.holdsAt(binding, search.now)) continue;
      const way = describe(snapshot, binding, inside);
      const groups = [snapshot.groups.idOf(recordOf(start)), ...way.groups];
      return { ...way, groups, startTime: undefined, expireTime };
    }
  }
  return undefined;
}

function compareTimes(one: InactiveWay, other: InactiveWay): number {
  const [startOfOne, startOfOther] = [one.startTime ?? Infinity, other.startTime ?? Infinity];
  if (startOfOne !== startOfOther) return startOfOne - startOfOther;
  return (other.expireTime ?? 0) - (one.expireTime ?? 0);
}
