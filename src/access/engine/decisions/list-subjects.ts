import { groupsWithin } from "../tables/group-closure.ts";
import { type PageOptions, createIdPage } from "./id-page.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import { type TargetScope, scopesOf } from "./target-scope.ts";
import { type Steps, createStepCounter } from "../../../scheduling/steps.ts";
import { isGroup, recordOf } from "../tables/subject.ts";

export interface SubjectsQuery extends PageOptions {
  readonly permission: string;
  readonly resource: TargetScope;
  /** The database's clock, in milliseconds. */
  readonly now: number;
  /** Returns the input of conditions for a member, given by its record. */
  readonly contextOf: (member: number) => unknown;
}

/** Returns the ids of the members for whom `decide` returns true, in order. The snapshot must not change between the steps. */
export function* listSubjects(snapshot: OrgSnapshot, query: SubjectsQuery): Steps<string[]> {
  const { org, members, bindings } = snapshot;
  const { now, contextOf } = query;
  if (org.state === "DELETED") return [];
  const page = createIdPage(members, query);
  const wants = (member: number): boolean => members.isActive(member) && page.wants(member);

  const conditional: number[] = [];
  const visited = new Set<number>();
  const isStepOver = createStepCounter();
  for (const binding of grantingBindings(snapshot, query)) {
    if (bindings.isConditional(binding)) {
      conditional.push(binding);
      continue;
    }
    for (const member of membersOf(snapshot, subjectOf(snapshot, binding), now, visited)) {
      if (wants(member)) page.add(member);
      if (isStepOver()) yield;
    }
  }
  // Conditions come last. They are evaluated only for members that are not on the page yet.
  for (const binding of conditional) {
    for (const member of membersOf(snapshot, subjectOf(snapshot, binding), now, new Set())) {
      const isEvaluated = wants(member);
      if (isEvaluated && bindings.conditionHolds(binding, contextOf(member))) page.add(member);
      if (isEvaluated || isStepOver()) yield;
    }
  }
  return page.ids();
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
