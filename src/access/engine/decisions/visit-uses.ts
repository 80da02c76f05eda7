// What gives a subject a permission: each role binding that does, the memberships and nestings that lead from the subject to the groups
// of these bindings, and the permission in each custom role that they grant. If bindings without a condition give it, those with one are
// not needed. Otherwise each binding with a condition counts that gives it if its condition holds, so that nothing depends on the order
// in which conditions are evaluated.
import { type CountedBindings, isCounted } from "./counted-bindings.ts";
import { type SubjectReference, activeSubject, probesOfCell } from "./find-grant.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import { type TargetScope, scopesOf } from "./target-scope.ts";
import { isGroup, recordOf, subjectNumber } from "../tables/subject.ts";

interface UsesQuery {
  readonly subject: SubjectReference;
  readonly permission: string;
  readonly resource: TargetScope;
  /** The database's clock, in milliseconds. */
  readonly now: number;
  readonly counted: CountedBindings;
}

/**
 * Receives what gives the permission: a role binding on the org or a project, by its id; the permission of a custom role, by the id of the
 * role; a membership or a nesting, by the id of the member or group that is in a group, and the id of that group.
 */
export type VisitUse = (id: string, part: string) => void;

/** Role bindings that give the permission now, and until when no other ones do. */
interface Giving {
  readonly plain: number[];
  readonly conditional: number[];
  until: number;
}

/**
 * Calls `visit` with what gives the permission, for a decision that has allowed it.
 *
 * @returns until when the same gives it, in milliseconds, as long as the snapshot does not change.
 */
export function visitUses(snapshot: OrgSnapshot, query: UsesQuery, visit: VisitUse): number {
  const subject = activeSubject(snapshot, query.subject);
  if (subject === undefined) return query.now;
  const { bindings, groups, roles, scopes } = snapshot;
  const count = snapshot.effectiveGroups.collect(subject, query.now);
  const giving: Giving = { plain: [], conditional: [], until: Infinity };
  for (const scope of scopesOf(snapshot, query.resource)) addGiving(snapshot, scope, count, query, giving);
  const bound = new Set<number>();
  for (const binding of giving.plain.length > 0 ? giving.plain : giving.conditional) {
    const cell = bindings.cellOf(binding);
    const [scope, boundSubject] = [bindings.scopeOf(cell), bindings.subjectOf(cell)];
    if (scope === scopes.org || scopes.projectOf(scope) !== 0) visit(bindings.idOf(binding), "");
    const role = roles.identityOf(bindings.roleOf(binding));
    if (role.kind === "custom") visit(role.id, query.permission);
    if (isGroup(boundSubject)) bound.add(recordOf(boundSubject));
  }
  const leading = visitNestings(snapshot, count, bound, visit);
  if (subject.kind === "group") return giving.until;
  const { memberships, members } = snapshot;
  let { until } = giving;
  for (let edge = memberships.firstFrom(subject.record); edge !== 0; edge = memberships.nextFrom(edge)) {
    if (!memberships.holdsAt(edge, query.now)) continue;
    until = Math.min(until, memberships.expireTimeOf(edge));
    const group = memberships.groupOf(edge);
    if (leading.has(group)) visit(members.idOf(subject.record), groups.idOf(group));
  }
  return until;
}

/** Adds the bindings of the collected subjects in a scope. As in a decision, the fewer of subjects and cells are searched. */
function addGiving(snapshot: OrgSnapshot, scope: number, count: number, query: UsesQuery, giving: Giving): void {
  const { bindings, effectiveGroups, scopes } = snapshot;
  if (scopes.cellCountOf(scope) * probesOfCell < count) {
    for (let cell = bindings.firstCellOfScope(scope); cell !== 0; cell = bindings.nextOfScope(cell)) {
      if (effectiveGroups.has(bindings.subjectOf(cell))) addOfCell(snapshot, cell, query, giving);
    }
    return;
  }
  for (let index = 0; index < count; index++) {
    const cell = bindings.findCell(effectiveGroups.at(index), scope);
    if (cell !== 0) addOfCell(snapshot, cell, query, giving);
  }
}

function addOfCell(snapshot: OrgSnapshot, cell: number, { permission, now, counted }: UsesQuery, giving: Giving): void {
  const { bindings, roles } = snapshot;
  const wanted = roles.permissions.find(permission);
  for (let binding = bindings.firstOfCell(cell); binding !== 0; binding = bindings.nextOfCell(binding)) {
    if (!roles.has(bindings.roleOf(binding), wanted) || !isCounted(snapshot, counted, binding)) continue;
    const { startTime, expireTime } = bindings.timesOf(binding);
    if (expireTime <= now) continue;
    giving.until = Math.min(giving.until, startTime > now ? startTime : expireTime);
    if (startTime > now) continue;
    (bindings.isConditional(binding) ? giving.conditional : giving.plain).push(binding);
  }
}

/** Visits the nestings through which collected groups lead to bound ones. Returns the groups that lead there, and the bound ones. */
function visitNestings(
  { effectiveGroups, groups, nestings }: OrgSnapshot,
  count: number,
  bound: ReadonlySet<number>,
  visit: VisitUse,
): ReadonlySet<number> {
  const leading = new Set(bound);
  if (bound.size === 0) return leading;
  const inside = new Map<number, number[]>();
  for (let index = 0; index < count; index++) {
    const collected = effectiveGroups.at(index);
    if (!isGroup(collected)) continue;
    const inner = recordOf(collected);
    for (let edge = nestings.firstFrom(inner); edge !== 0; edge = nestings.nextFrom(edge)) {
      const outer = nestings.groupOf(edge);
      if (!effectiveGroups.has(subjectNumber("group", outer))) continue;
      const known = inside.get(outer);
      if (known === undefined) inside.set(outer, [inner]);
      else known.push(inner);
    }
  }
  // A set iterates over elements that are added on the way.
  for (const outer of leading) {
    for (const inner of inside.get(outer) ?? []) {
      visit(groups.idOf(inner), groups.idOf(outer));
      leading.add(inner);
    }
  }
  return leading;
}
