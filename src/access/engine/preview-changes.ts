// Says who would gain and lose what by changes that have not been made. The snapshot is moved by them and back again, as often
// as it takes, and each member whom they may concern is looked at on both sides.
import { type AffectedScopes, createAffectedScopes } from "./affected-scopes.ts";
import type { SnapshotChange } from "./apply-change.ts";
import { activeSubject } from "./find-grant.ts";
import { type Delta, createHeldPermissions } from "./held-permissions.ts";
import { createIdPage } from "./id-page.ts";
import { membersOf } from "./list-subjects.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import type { Resource } from "./resource.ts";
import { type Trial, createTrial } from "./trial.ts";

export interface PreviewQuestion {
  /** Lines of the change log, all of one kind, that follow on the revision. */
  readonly changes: readonly SnapshotChange[];
  /** The one at which the snapshot is, and stays. */
  readonly revision: string;
  /** When to look, by the database's clock, in milliseconds and ascending: what is gained or lost at any of these times is. */
  readonly times: readonly [number, ...number[]];
  /** What is not shown is not counted either. It may ask the snapshot. */
  readonly isShown: (resource: Resource) => boolean;
  /** The permissions that there are beside those which the org's roles name. */
  readonly permissions: readonly string[];
  /** How many of the changes to answer. */
  readonly limit: number;
  /** Whether the step that is under way has taken long enough. */
  readonly isStepOver: () => boolean;
}

/** What a member gains and loses on a resource. */
export interface AccessDifference extends Delta {
  readonly memberId: string;
  readonly resource: Resource;
}

export interface Preview {
  readonly gainingMembers: number;
  readonly losingMembers: number;
  readonly count: number;
  /** The first ones, in the order of members' ids. */
  readonly differences: readonly AccessDifference[];
  /** Whether everything was looked at. */
  readonly isWhole: boolean;
}

/** After each step it is told whether to go on; if not, it answers what it has found. */
type Steps<Answer> = Generator<void, Answer, boolean>;

/** A member and a resource, and what it holds there before the changes, at each of the times. */
interface Pair {
  readonly member: number;
  readonly resource: Resource;
  readonly before: readonly string[];
}

/** The snapshot is as it was after each step. Until the last one it must not be moved. */
export function* previewChanges(snapshot: OrgSnapshot, question: PreviewQuestion): Steps<Preview> {
  const { revision, changes, times, permissions, limit, isStepOver } = question;
  const trial = createTrial(snapshot, revision, changes);
  const held = createHeldPermissions(snapshot, permissions);
  const differences = createDifferences(snapshot, limit);

  /** Looks at the pairs as they are after the changes. */
  const finish = (pairs: readonly Pair[]): void => {
    const after = trial(() =>
      pairs.map(({ member, resource }) => times.map((time) => held.after(member, resource, time))),
    );
    for (const [index, { member, resource, before }] of pairs.entries()) {
      const deltas = times.flatMap((_, at) => held.compare(before[at] ?? "", after[index]?.[at] ?? ""));
      for (const delta of mergeDeltas(deltas)) differences.add(member, resource, delta);
    }
  };

  const affected = yield* collectScopes(snapshot, question, trial);
  const { members, isWhole } = yield* collectMembers(snapshot, question, affected);
  const resourcesOf = createResources(snapshot, question, affected);
  let pairs: Pair[] = [];
  for (const member of members) {
    for (const resource of resourcesOf(member)) {
      pairs.push({ member, resource, before: times.map((time) => held.before(member, resource, time)) });
      if (!isStepOver()) continue;
      finish(pairs);
      pairs = [];
      if (!(yield)) return differences.answer(false);
    }
  }
  finish(pairs);
  return differences.answer(isWhole);
}

function* collectScopes(
  snapshot: OrgSnapshot,
  { changes, isStepOver }: PreviewQuestion,
  trial: Trial,
): Steps<AffectedScopes> {
  const affected = createAffectedScopes(snapshot);
  for (const change of changes) {
    affected.add(change, "before");
    // It goes on to the end even if it is to stop: there are at most as many lines as in a batch.
    if (isStepOver()) yield;
  }
  for (let next = 0; next < changes.length;) {
    next = trial(() => {
      let position = next;
      do affected.add(changes[position++] as SnapshotChange, "after");
      while (position < changes.length && !isStepOver());
      return position;
    });
    if (next < changes.length) yield;
  }
  return affected;
}

/** The members whom the changes may concern, each once. */
function* collectMembers(
  snapshot: OrgSnapshot,
  { times, isStepOver }: PreviewQuestion,
  affected: AffectedScopes,
): Steps<{ members: number[]; isWhole: boolean }> {
  const seen = new Uint8Array(snapshot.members.records.end());
  const members: number[] = [];
  const visited = new Set<number>();
  for (const subject of affected.subjects()) {
    for (const member of membersOf(snapshot, subject, times[0], visited)) {
      if (seen[member] === 0) members.push(member);
      seen[member] = 1;
      if (isStepOver() && !(yield)) return { members, isWhole: false };
    }
  }
  return { members, isWhole: true };
}

/** Tells on which resources to look at a member. */
function createResources(
  snapshot: OrgSnapshot,
  { times, isShown }: PreviewQuestion,
  affected: AffectedScopes,
): (member: number) => Iterable<Resource> {
  const shown = new Map<number, Resource | undefined>();
  const shownAt = (scope: number): Resource | undefined => {
    if (!shown.has(scope)) {
      const resource = resourceOf(snapshot, scope);
      shown.set(scope, resource !== undefined && isShown(resource) ? resource : undefined);
    }
    return shown.get(scope);
  };
  return function* (member) {
    const subject = activeSubject(snapshot, { kind: "member", record: member });
    if (subject === undefined) return;
    const { reach } = snapshot;
    const around = Array.from({ length: reach.collect(subject, times[0]) }, (_, index) => reach.at(index));
    for (const scope of affected.of(around)) {
      const resource = shownAt(scope);
      if (resource !== undefined) yield resource;
    }
  };
}

/** What is bound in a deleted project does not count. */
function resourceOf({ org, projects, scopes }: OrgSnapshot, scope: number): Resource | undefined {
  const ofOrg = { customerId: org.customerId, orgId: org.id };
  const identity = scopes.identityOf(scope);
  switch (identity.kind) {
    case "platform":
      return { kind: "platform" };
    case "customer":
      return { kind: "customer", customerId: identity.id };
    case "org":
      return { kind: "org", ...ofOrg };
    case "project":
      return projects.isLive(scopes.projectOf(scope))
        ? { kind: "project", ...ofOrg, projectId: identity.id }
        : undefined;
  }
}

/** Those of several times as one. */
function mergeDeltas(deltas: readonly Delta[]): readonly Delta[] {
  if (deltas.length < 2) return deltas;
  const merge = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].toSorted();
  return [...Map.groupBy(deltas, ({ isConditional }) => isConditional)].map(([isConditional, alike]) => ({
    gained: merge(alike.map(({ gained }) => gained)),
    lost: merge(alike.map(({ lost }) => lost)),
    isConditional,
  }));
}

/** Counts differences and keeps those of the first members. */
function createDifferences({ members }: OrgSnapshot, limit: number) {
  const gaining = createCounter(members.records.end());
  const losing = createCounter(members.records.end());
  let count = 0;
  const page = createIdPage(members, { limit });
  const kept = new Map<number, AccessDifference[]>();

  return {
    add(member: number, resource: Resource, delta: Delta): void {
      count++;
      if (delta.gained.length > 0) gaining.add(member);
      if (delta.lost.length > 0) losing.add(member);
      if (page.wants(member)) {
        kept.delete(page.add(member));
        kept.set(member, []);
      }
      const ofMember = kept.get(member);
      if (ofMember === undefined || ofMember.length >= limit) return;
      ofMember.push({ memberId: members.idOf(member), resource, ...delta });
    },

    answer(isWhole: boolean): Preview {
      const differences = page.records().flatMap((member) => kept.get(member) ?? []);
      return {
        gainingMembers: gaining.count(),
        losingMembers: losing.count(),
        count,
        differences: differences.slice(0, limit),
        isWhole,
      };
    },
  };
}

/** Counts records below a number, each once. A set of a million would halt to grow. */
function createCounter(end: number) {
  const seen = new Uint8Array(end);
  let count = 0;
  return {
    add(record: number): void {
      if (seen[record] === 0) count++;
      seen[record] = 1;
    },
    count: () => count,
  };
}
