// Computes who would gain and lose what by changes that have not been made. Applies the changes to the snapshot and reverts
// them as often as needed, and evaluates each member that they may affect before and after them.
import { type AffectedScopes, createAffectedScopes } from "./affected-scopes.ts";
import type { LogEntry } from "../loading/apply-entry.ts";
import { activeSubject } from "./find-grant.ts";
import { type Delta, createEffectivePermissions } from "./effective-permissions.ts";
import { createIdPage } from "./id-page.ts";
import { membersOf } from "./list-subjects.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import type { TargetScope } from "./target-scope.ts";
import { type DryRun, createDryRun } from "./dry-run.ts";

export interface PreviewQuery {
  /** Entries of the change log, all of one kind, that follow the revision. */
  readonly changes: readonly LogEntry[];
  /** The revision of the snapshot, which does not change. */
  readonly revision: string;
  /** The times to evaluate, by the database's clock, in milliseconds and ascending. A difference at any of them counts. */
  readonly times: readonly [number, ...number[]];
  /** Reports whether a resource is shown. What is not shown is not counted either. It may query the snapshot. */
  readonly isShown: (resource: TargetScope) => boolean;
  /** The known permissions, besides those that the org's roles name. */
  readonly permissions: readonly string[];
  /** The maximum number of differences in the result. */
  readonly limit: number;
  /** Reports whether the current step has taken long enough. */
  readonly isStepOver: () => boolean;
}

export interface AccessDifference extends Delta {
  readonly memberId: string;
  readonly resource: TargetScope;
}

const maxGainingIds = 10_000;

export interface Preview {
  readonly gainingMembers: number;
  /** The ids of members who gain permissions, whether or not `differences` shows them; at most `maxGainingIds`. */
  readonly gainingIds: readonly string[];
  readonly losingMembers: number;
  readonly count: number;
  /** The first differences, in the order of member ids. */
  readonly differences: readonly AccessDifference[];
  /** Whether everything was evaluated. */
  readonly isWhole: boolean;
}

/** A generator that yields after each step. Resumed with false, it ends with the result so far. */
type Steps<Result> = Generator<void, Result, boolean>;

/** A member, a resource, and what the member holds there before the changes at each of the times. */
interface Pair {
  readonly member: number;
  readonly resource: TargetScope;
  readonly before: readonly string[];
}

/** Previews changes in steps. After each step the snapshot is unchanged. It must not be changed until the last step. */
export function* previewChanges(snapshot: OrgSnapshot, query: PreviewQuery): Steps<Preview> {
  const { revision, changes, times, permissions, limit, isStepOver } = query;
  const dryRun = createDryRun(snapshot, revision, changes);
  const held = createEffectivePermissions(snapshot, permissions);
  const differences = createDifferences(snapshot, limit);

  /** Evaluates the pairs after the changes. */
  const finish = (pairs: readonly Pair[]): void => {
    const after = dryRun(() =>
      pairs.map(({ member, resource }) => times.map((time) => held.after(member, resource, time))),
    );
    for (const [index, { member, resource, before }] of pairs.entries()) {
      const deltas = times.flatMap((_, at) => held.compare(before[at] ?? "", after[index]?.[at] ?? ""));
      for (const delta of mergeDeltas(deltas)) differences.add(member, resource, delta);
    }
  };

  const affected = yield* collectScopes(snapshot, query, dryRun);
  const { members, isWhole } = yield* collectMembers(snapshot, query, affected);
  const resourcesOf = createResources(snapshot, query, affected);
  let pairs: Pair[] = [];
  for (const member of members) {
    for (const resource of resourcesOf(member)) {
      pairs.push({ member, resource, before: times.map((time) => held.before(member, resource, time)) });
      if (!isStepOver()) continue;
      // A dry run takes as long for few pairs as for as many as there are changes.
      const isDue = pairs.length >= changes.length;
      if (isDue) {
        finish(pairs);
        pairs = [];
      }
      if (yield) continue;
      finish(pairs);
      return differences.answer(false);
    }
  }
  finish(pairs);
  return differences.answer(isWhole);
}

function* collectScopes(
  snapshot: OrgSnapshot,
  { changes, isStepOver }: PreviewQuery,
  dryRun: DryRun,
): Steps<AffectedScopes> {
  const affected = createAffectedScopes(snapshot);
  for (const change of changes) {
    affected.add(change, "before");
    // Continues to the end even when asked to stop: there are at most as many changes as in a batch.
    if (isStepOver()) yield;
  }
  for (let next = 0; next < changes.length;) {
    next = dryRun(() => {
      let position = next;
      do affected.add(changes[position++] as LogEntry, "after");
      while (position < changes.length && !isStepOver());
      return position;
    });
    if (next < changes.length) yield;
  }
  return affected;
}

/** Collects the members that the changes may affect, each once. */
function* collectMembers(
  snapshot: OrgSnapshot,
  { times, isStepOver }: PreviewQuery,
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

/** Returns a function that yields the resources on which to evaluate a member. */
function createResources(
  snapshot: OrgSnapshot,
  { times, isShown }: PreviewQuery,
  affected: AffectedScopes,
): (member: number) => Iterable<TargetScope> {
  const shown = new Map<number, TargetScope | undefined>();
  const shownAt = (scope: number): TargetScope | undefined => {
    if (!shown.has(scope)) {
      const resource = resourceOf(snapshot, scope);
      shown.set(scope, resource !== undefined && isShown(resource) ? resource : undefined);
    }
    return shown.get(scope);
  };
  return function* (member) {
    const subject = activeSubject(snapshot, { kind: "member", record: member });
    if (subject === undefined) return;
    const { effectiveGroups } = snapshot;
    const around = Array.from({ length: effectiveGroups.collect(subject, times[0]) }, (_, index) =>
      effectiveGroups.at(index),
    );
    for (const scope of affected.of(around)) {
      const resource = shownAt(scope);
      if (resource !== undefined) yield resource;
    }
  };
}

/** Returns the resource of a scope; undefined for a deleted project, whose bindings do not count. */
function resourceOf({ org, projects, scopes }: OrgSnapshot, scope: number): TargetScope | undefined {
  const ofOrg = { customerId: org.customerId, orgId: org.id };
  const identity = scopes.identityOf(scope);
  switch (identity.kind) {
    case "platform":
      return { kind: "platform" };
    case "customer":
      return { kind: "customer", customerId: identity.id };
    case "service":
      return { kind: "service", serviceId: identity.id };
    case "org":
      return { kind: "org", ...ofOrg };
    case "project":
      return projects.isLive(scopes.projectOf(scope))
        ? { kind: "project", ...ofOrg, projectId: identity.id }
        : undefined;
  }
}

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
    add(member: number, resource: TargetScope, delta: Delta): void {
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
        gainingIds: gaining.first(maxGainingIds).map((member) => members.idOf(member)),
        losingMembers: losing.count(),
        count,
        differences: differences.slice(0, limit),
        isWhole,
      };
    },
  };
}

/** Counts records below a number, each once. Growing a set of a million would block for too long. */
function createCounter(end: number) {
  const seen = new Uint8Array(end);
  let count = 0;
  return {
    add(record: number): void {
      if (seen[record] === 0) count++;
      seen[record] = 1;
    },
    count: () => count,
    /** Returns the first records, in their order. */
    first(limit: number): number[] {
      const records: number[] = [];
      for (let record = seen.indexOf(1); record >= 0 && records.length < limit; record = seen.indexOf(1, record + 1)) {
        records.push(record);
      }
      return records;
    },
  };
}
