import { groupsWithin } from "../tables/group-closure.ts";
import { type IdPage, type PageOptions, createIdPage } from "./id-page.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import { type TargetScope, scopesOf } from "./target-scope.ts";
import { type Steps, createStepCounter } from "../../../scheduling/steps.ts";
import { isGroup, recordOf } from "../tables/subject.ts";

/** How many members are decided about for a page at most. */
const maxDecided = 2_000;

export interface SubjectsQuery extends Omit<PageOptions, "accepts"> {
  readonly permission: string;
  readonly resource: TargetScope;
  /** The database's clock, in milliseconds. */
  readonly now: number;
  /** Returns the input of conditions for a member, given by its record; of no member, for those that do not read the subject. */
  readonly contextOf: (member: number | undefined) => unknown;
  /** Decides about the members to whom a binding grants the permission, in place of its condition, if it takes more than that. */
  readonly decides?: ((id: string) => boolean) | undefined;
  readonly bound?: DecidingBound | undefined;
}

/** Where a page ends although there may be more: the next one goes on. A page decides about one member at least. */
export interface DecidingBound {
  /** Whether no other member is decided about, and no other condition is compiled. False when it is asked first. */
  readonly isOver: () => boolean;
  /** Whether a decision has failed only because of what the page has done before. */
  readonly isExceededBy: (error: unknown) => boolean;
}

export interface SubjectsPage {
  readonly ids: readonly string[];
  /** The id after which members have not been decided about; undefined if the page has all, or as many as it may have. */
  readonly endsAfter: string | undefined;
  /** Members after the end of the page who have the permission without a decision. The next page has them, too. */
  readonly undoubted: readonly string[];
  /** Whether it has to be asked for again: its time was over before all conditions were compiled that it needs. Those that are stay so. */
  readonly isUnfinished?: true;
}

/** The bindings that are decided for each member, by the number of their subject. */
type BindingsBySubject = ReadonlyMap<number, readonly number[]>;

/**
 * Lists the members for whom `decide` returns true, in the order of their ids. What does not depend on the member is evaluated once. The
 * others are decided about in order, as checks are, so that a page can end after any of them. The snapshot must not change between the
 * steps.
 */
export function* listSubjects(snapshot: OrgSnapshot, query: SubjectsQuery): Steps<SubjectsPage> {
  const { org, members } = snapshot;
  const { after, limit, bound } = query;
  if (org.state === "DELETED") return { ids: [], endsAfter: undefined, undoubted: [] };
  const page = createIdPage(members, { after, limit });
  const visited = new Set<number>();
  const open = yield* offerForAll(snapshot, query, page, visited);
  if (open === undefined) return { ids: [], endsAfter: undefined, undoubted: [], isUnfinished: true };
  const candidates = yield* findCandidates(snapshot, query, { page, open, visited });
  const endAfter = (last: number): SubjectsPage => {
    const ids = page.ids();
    const end = page.records().filter((record) => members.compare(record, last) <= 0).length;
    return { ids: ids.slice(0, end), endsAfter: members.idOf(last), undoubted: ids.slice(end) };
  };

  let last = 0;
  for (const member of candidates) {
    if (!page.wants(member)) break;
    if (last !== 0 && bound?.isOver() === true) return endAfter(last);
    try {
      if (isGranted(snapshot, query, open, member)) page.add(member);
    } catch (error) {
      if (last === 0 || bound?.isExceededBy(error) !== true) throw error;
      return endAfter(last);
    }
    last = member;
    yield;
  }
  if (last !== 0 && last === candidates[maxDecided - 1]) return endAfter(last);
  return { ids: page.ids(), endsAfter: undefined, undoubted: [] };
}

/**
 * Adds the members whom bindings grant the permission whoever they are. Returns the other bindings; undefined if the time is over before
 * the conditions are compiled. At least one is.
 */
function* offerForAll(
  snapshot: OrgSnapshot,
  query: SubjectsQuery,
  page: IdPage,
  visited: Set<number>,
): Steps<BindingsBySubject | undefined> {
  const { bindings, groups, members } = snapshot;
  const { now, contextOf, decides, bound } = query;
  const conditional: number[] = [];
  const open = new Map<number, number[]>();
  const results = new Map<string, boolean>();
  const isStepOver = createStepCounter();
  const wants = (member: number): boolean => members.isActive(member) && page.wants(member);

  const leaveOpen = (binding: number): void => {
    const subject = subjectOf(snapshot, binding);
    const others = open.get(subject);
    if (others === undefined) open.set(subject, [binding]);
    else others.push(binding);
  };
  const addsNobody = (binding: number): boolean => {
    const subject = subjectOf(snapshot, binding);
    const record = recordOf(subject);
    return isGroup(subject) ? visited.has(record) || !groups.isLive(record) : !wants(record);
  };
  const holdsForAll = (binding: number): boolean => {
    const condition = bindings.conditionOf(binding);
    const result = results.get(condition) ?? bindings.conditionHolds(binding, contextOf(undefined));
    results.set(condition, result);
    return result;
  };
  function* offer(binding: number): Steps<void> {
    for (const member of membersOf(snapshot, subjectOf(snapshot, binding), now, visited)) {
      if (wants(member)) page.add(member);
      if (isStepOver()) yield;
    }
  }

  for (const binding of grantingBindings(snapshot, query)) {
    if (decides !== undefined) leaveOpen(binding);
    else if (bindings.isConditional(binding)) conditional.push(binding);
    else yield* offer(binding);
  }
  // Conditions come last. They are evaluated only where somebody is not on the page yet.
  for (const binding of conditional) {
    if (addsNobody(binding)) continue;
    if (!bindings.conditionIsCompiled(binding) && bound?.isOver() === true) return undefined;
    if (!bindings.conditionIsForAll(binding)) leaveOpen(binding);
    else if (holdsForAll(binding)) yield* offer(binding);
    // To parse a long condition takes the time of a step.
    yield;
  }
  return open;
}

interface Offered {
  readonly page: IdPage;
  readonly open: BindingsBySubject;
  readonly visited: Set<number>;
}

/** Returns the first members, in order, who may get on the page by bindings that are decided for each member. */
function* findCandidates(
  snapshot: OrgSnapshot,
  { after, now }: SubjectsQuery,
  { page, open, visited }: Offered,
): Steps<readonly number[]> {
  const { members } = snapshot;
  const candidates = createIdPage(members, { after, limit: maxDecided });
  const isStepOver = createStepCounter();
  for (const subject of open.keys()) {
    for (const member of membersOf(snapshot, subject, now, visited)) {
      if (members.isActive(member) && page.wants(member) && candidates.wants(member)) candidates.add(member);
      if (isStepOver()) yield;
    }
  }
  return candidates.records();
}

/** Reports whether one of the bindings grants the permission to a member, or to a group that it is in. */
function isGranted(
  { bindings, effectiveGroups, members }: OrgSnapshot,
  { now, contextOf, decides }: SubjectsQuery,
  open: BindingsBySubject,
  member: number,
): boolean {
  if (decides !== undefined) return decides(members.idOf(member));
  const count = effectiveGroups.collect({ kind: "member", record: member }, now);
  const own = Array.from({ length: count }, (_, index) => open.get(effectiveGroups.at(index)) ?? []).flat();
  const context = contextOf(member);
  return own.some((binding) => bindings.conditionHolds(binding, context));
}

/** Yields the bindings that grant the permission on the resource now, if their condition holds. */
function* grantingBindings(snapshot: OrgSnapshot, query: SubjectsQuery): Iterable<number> {
  const { bindings, roles, scopes } = snapshot;
  const permission = roles.permissions.find(query.permission);
  const granting = roles.having(permission);
  const found = scopesOf(snapshot, query.resource);
  const ofRoles = sum(granting.map(roles.bindingCountOf));
  const ofScopes = sum(found.map(scopes.cellCountOf));
  const all = ofRoles < ofScopes ? ofEach(granting, bindings.firstOfRole, bindings.nextOfRole) : ofCells();

  function* ofCells(): Iterable<number> {
    for (const cell of ofEach(found, bindings.firstCellOfScope, bindings.nextOfScope)) {
      yield* ofEach([cell], bindings.firstOfCell, bindings.nextOfCell);
    }
  }

  for (const binding of all) {
    if (!roles.has(bindings.roleOf(binding), permission) || !bindings.holdsAt(binding, query.now)) continue;
    if (found.includes(bindings.scopeOf(bindings.cellOf(binding)))) yield binding;
  }
}

/** Yields the members that a binding's subject is or contains. Skips visited groups, and marks those that it visits. */
export function* membersOf(
  { groups, memberships, nestings }: OrgSnapshot,
  subject: number,
  now: number,
  visited: Set<number>,
): Iterable<number> {
  const record = recordOf(subject);
  if (!isGroup(subject)) {
    yield record;
    return;
  }
  if (visited.has(record) || !groups.isLive(record)) return;
  for (const group of groupsWithin(record, groups, nestings)) {
    if (visited.has(group)) continue;
    visited.add(group);
    for (let edge = memberships.firstTo(group); edge !== 0; edge = memberships.nextTo(edge)) {
      if (memberships.holdsAt(edge, now)) yield memberships.sourceOf(edge);
    }
  }
}

function subjectOf({ bindings }: OrgSnapshot, binding: number): number {
  return bindings.subjectOf(bindings.cellOf(binding));
}

/** Yields the records of several linked lists. */
function* ofEach(
  owners: readonly number[],
  first: (owner: number) => number,
  next: (record: number) => number,
): Iterable<number> {
  for (const owner of owners) for (let record = first(owner); record !== 0; record = next(record)) yield record;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
