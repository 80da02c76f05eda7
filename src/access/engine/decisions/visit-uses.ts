// What gives a subject a permission: the member itself, each role binding that does, the memberships and nestings that lead from the subject
// to the groups of these bindings, and the permission in each custom role that they grant. If bindings without a condition give it, those
// with one are not needed. Otherwise each binding with a condition counts that gives it if its condition holds, so that nothing depends on
// the order in which conditions are evaluated.
//
// A decision ends with the first binding that gives the permission. This goes on from there, but not far: what it has visited by then would
// have been enough, so that the rest is not needed in this decision. If that cannot be told, it says so.
import { type CountedBindings, isCounted } from "./counted-bindings.ts";
import { type SubjectReference, activeSubject, fewSubjects, probesOfCell } from "./find-grant.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import { scopeBit } from "../tables/scope-table.ts";
import { isGroup, recordOf, subjectNumber } from "../tables/subject.ts";
import { type TargetScope, scopesOf } from "./target-scope.ts";

interface UsesQuery {
  readonly subject: SubjectReference;
  readonly permission: string;
  readonly resource: TargetScope;
  /** The database's clock, in milliseconds. */
  readonly now: number;
  readonly counted: CountedBindings;
}

/**
 * Receives what gives the permission: the member, by its id; a role binding on the org or a project, by its id; the permission of a custom role,
 * by the id of the role; a membership or a nesting, by the id of the member or group that is in a group, and the id of that group.
 */
export type VisitUse = (id: string, part: string) => void;

/** Where it is no longer looked for more. */
export interface UsesLimits {
  /** After so many bindings that give the permission, with or without a condition. */
  readonly giving: number;
  /** After so many bindings, cells, nestings or memberships, of which one has given the permission before. */
  readonly looked: number;
}

const usualLimits: UsesLimits = { giving: 256, looked: 4_096 };

export interface VisitedUses {
  /** Until when the same gives the permission, in milliseconds, as long as the snapshot does not change. */
  readonly until: number;
  /** Whether something else may have been needed. */
  readonly isCutOff: boolean;
}

/** Role bindings that give the permission now, and until when no other ones do. */
interface Giving {
  readonly plain: number[];
  readonly conditional: number[];
  until: number;
  /** How much was looked at since something was found. */
  looked: number;
  readonly limits: UsesLimits;
}

/** Whether to look for no more. */
function isEnough({ plain, conditional, looked, limits }: Giving): boolean {
  return looked >= limits.looked || plain.length >= limits.giving || conditional.length >= limits.giving;
}

const isFound = ({ plain, conditional }: Giving): boolean => plain.length + conditional.length > 0;

/** Calls `visit` with what gives the permission, for a decision that has allowed it. */
export function visitUses(
  snapshot: OrgSnapshot,
  query: UsesQuery,
  visit: VisitUse,
  limits: UsesLimits = usualLimits,
): VisitedUses {
  const subject = activeSubject(snapshot, query.subject);
  if (subject === undefined) return { until: query.now, isCutOff: false };
  const { bindings, groups, members, roles, scopes } = snapshot;
  const count = snapshot.effectiveGroups.collect(subject, query.now);
  const giving = findGiving(snapshot, count, query, limits);
  const isPlain = giving.plain.length > 0;
  const bound = new Set<number>();
  let isDirect = false;
  for (const binding of isPlain ? giving.plain : giving.conditional) {
    const cell = bindings.cellOf(binding);
    const [scope, boundSubject] = [bindings.scopeOf(cell), bindings.subjectOf(cell)];
    if (scope === scopes.org || scopes.projectOf(scope) !== 0) visit(bindings.idOf(binding), "");
    const role = roles.identityOf(bindings.roleOf(binding));
    if (role.kind === "custom") visit(role.id, query.permission);
    isDirect ||= boundSubject === subjectNumber(subject.kind, subject.record);
    if (isGroup(boundSubject)) bound.add(recordOf(boundSubject));
  }
  const { leading, isAll } = visitNestings(snapshot, count, bound, visit, limits);
  const isGivingCutOff = isEnough(giving);
  if (subject.kind === "group") {
    const isReached = isDirect || leading.has(subject.record);
    return { until: giving.until, isCutOff: isPlain ? !isReached : isGivingCutOff || !isAll };
  }
  visit(members.idOf(subject.record), "");
  const of = visitMemberships(snapshot, subject.record, query.now, limits, (group) => {
    if (!leading.has(group)) return false;
    visit(members.idOf(subject.record), groups.idOf(group));
    return true;
  });
  const isCutOff = isPlain ? !isDirect && of.visited === 0 : isGivingCutOff || !isAll || !of.isAll;
  return { until: of.isAll ? Math.min(giving.until, of.until) : query.now, isCutOff };
}

/** Searches in the order of a decision. As there, the fewer of subjects and cells are searched. */
function findGiving(snapshot: OrgSnapshot, count: number, query: UsesQuery, limits: UsesLimits): Giving {
  const { bindings, effectiveGroups, scopes } = snapshot;
  const giving: Giving = { plain: [], conditional: [], until: Infinity, looked: 0, limits };
  const look = (cell: number): boolean => {
    if (isFound(giving)) giving.looked++;
    if (cell !== 0 && effectiveGroups.has(bindings.subjectOf(cell))) addOfCell(snapshot, cell, query, giving);
    return isEnough(giving);
  };
  const found = scopesOf(snapshot, query.resource).filter(
    (scope) => (effectiveGroups.scopeBits() & scopeBit(scope)) !== 0,
  );
  const isProject = (scope: number): boolean => scopes.projectOf(scope) !== 0;
  const [projects, others] = [found.filter(isProject), found.filter((scope) => !isProject(scope))];
  for (const scope of count > fewSubjects ? found : [...others, ...projects]) {
    if (scopes.cellCountOf(scope) * probesOfCell < count) {
      for (let cell = bindings.firstCellOfScope(scope); cell !== 0; cell = bindings.nextOfScope(cell)) {
        if (look(cell)) return giving;
      }
    } else {
      for (let index = 0; index < count; index++) {
        if (look(bindings.findCell(effectiveGroups.at(index), scope))) return giving;
      }
    }
  }
  return giving;
}

function addOfCell(snapshot: OrgSnapshot, cell: number, { permission, now, counted }: UsesQuery, giving: Giving): void {
  const { bindings, roles } = snapshot;
  const wanted = roles.permissions.find(permission);
  for (let binding = bindings.firstOfCell(cell); binding !== 0; binding = bindings.nextOfCell(binding)) {
    if (isFound(giving)) giving.looked++;
    if (isEnough(giving)) return;
    if (!roles.has(bindings.roleOf(binding), wanted) || !isCounted(snapshot, counted, binding)) continue;
    const { startTime, expireTime } = bindings.timesOf(binding);
    if (expireTime <= now) continue;
    giving.until = Math.min(giving.until, startTime > now ? startTime : expireTime);
    if (startTime > now) continue;
    (bindings.isConditional(binding) ? giving.conditional : giving.plain).push(binding);
  }
}

/**
 * Visits the nestings through which collected groups lead to bound ones. Returns the groups of which a way there was visited, and the bound ones,
 * and whether these are all.
 */
function visitNestings(
  snapshot: OrgSnapshot,
  count: number,
  bound: ReadonlySet<number>,
  visit: VisitUse,
  limits: UsesLimits,
): { readonly leading: ReadonlySet<number>; readonly isAll: boolean } {
  const leading = new Set(bound);
  if (bound.size === 0) return { leading, isAll: true };
  const { inside, isAll } = collectInside(snapshot, count, limits);
  const { groups } = snapshot;
  // Depth first, so that whole ways are visited before the limit is reached.
  const next = [...bound];
  let visited = 0;
  for (let outer = next.pop(); outer !== undefined; outer = next.pop()) {
    for (const inner of inside.get(outer) ?? []) {
      if (visited++ === limits.giving) return { leading, isAll: false };
      visit(groups.idOf(inner), groups.idOf(outer));
      if (leading.has(inner)) continue;
      leading.add(inner);
      next.push(inner);
    }
  }
  return { leading, isAll };
}

/** Returns which collected groups are in which others. */
function collectInside({ effectiveGroups, nestings }: OrgSnapshot, count: number, { looked }: UsesLimits) {
  const inside = new Map<number, number[]>();
  let left = looked;
  for (let index = 0; index < count; index++) {
    const collected = effectiveGroups.at(index);
    if (!isGroup(collected)) continue;
    const inner = recordOf(collected);
    for (let edge = nestings.firstFrom(inner); edge !== 0; edge = nestings.nextFrom(edge)) {
      if (left-- === 0) return { inside, isAll: false };
      const outer = nestings.groupOf(edge);
      if (!effectiveGroups.has(subjectNumber("group", outer))) continue;
      const known = inside.get(outer);
      if (known === undefined) inside.set(outer, [inner]);
      else known.push(inner);
    }
  }
  return { inside, isAll: true };
}

/** Visits the memberships that hold. Returns how many `visit` has taken, until when all hold, and whether there are no more. */
function visitMemberships(
  { memberships }: OrgSnapshot,
  member: number,
  now: number,
  { looked }: UsesLimits,
  visit: (group: number) => boolean,
) {
  let [until, visited, left] = [Infinity, 0, looked];
  for (let edge = memberships.firstFrom(member); edge !== 0; edge = memberships.nextFrom(edge)) {
    if (left-- === 0) return { until, visited, isAll: false };
    if (!memberships.holdsAt(edge, now)) continue;
    until = Math.min(until, memberships.expireTimeOf(edge));
    if (visit(memberships.groupOf(edge))) visited++;
  }
  return { until, visited, isAll: true };
}
