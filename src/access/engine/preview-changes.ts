// Says who would gain and lose what by changes that have not been made. The snapshot is moved by them and back again, as often
// as it takes, and each member that they may concern is looked at on both sides.
import { type AffectedScopes, addAffectedScopes } from "./affected-scopes.ts";
import type { SnapshotChange } from "./apply-change.ts";
import { type Delta, createHeldPermissions } from "./held-permissions.ts";
import { createIdPage } from "./id-page.ts";
import { membersOf } from "./list-subjects.ts";
import type { OrgSnapshot } from "./org-snapshot.ts";
import type { Resource } from "./resource.ts";
import { type Trial, createTrial } from "./trial.ts";

export interface PreviewQuestion {
  /** Lines of the change log, all of one kind, that follow on the snapshot. */
  readonly changes: readonly SnapshotChange[];
  /** By the database's clock, in milliseconds. */
  readonly now: number;
  /** What is not shown is not counted either. It may ask the snapshot. */
  readonly isShown: (resource: Resource) => boolean;
  /** The permissions that there are beside those which the org's roles name. */
  readonly permissions: readonly string[];
  /** How many of the changes to answer. */
  readonly limit: number;
  /** How many pairs of a member and a resource to look at. */
  readonly maxPairs: number;
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

/** How many members or pairs are looked at in one go: some milliseconds. */
const pairsOfStep = 1000;

interface Pair {
  readonly member: number;
  readonly resource: Resource;
}

/**
 * Each step takes some milliseconds, and the snapshot is as it was after each of them. Until the last one it must not be moved.
 */
export function* previewChanges(snapshot: OrgSnapshot, question: PreviewQuestion): Generator<void, Preview> {
  const { now, limit } = question;
  const trial = createTrial(snapshot, question.changes);
  const held = createHeldPermissions(snapshot, now, question.permissions);
  const gaining = createCounter(snapshot);
  const losing = createCounter(snapshot);
  const page = createIdPage(snapshot.members, { limit });
  const kept = new Map<number, AccessDifference[]>();
  let count = 0;

  const keep = ({ member, resource }: Pair, delta: Delta): void => {
    count++;
    if (delta.gained.length > 0) gaining.add(member);
    if (delta.lost.length > 0) losing.add(member);
    if (page.wants(member)) {
      page.add(member);
      kept.set(member, []);
    }
    const ofMember = kept.get(member);
    if (ofMember === undefined || ofMember.length >= limit) return;
    ofMember.push({ memberId: snapshot.members.idOf(member), resource, ...delta });
  };

  const { pairs, isWhole } = yield* collectPairs(snapshot, question, trial);
  for (const step of inSteps(pairs)) {
    const before = step.map((pair) => held.before(pair.member, pair.resource));
    const after = trial(() => step.map((pair) => held.after(pair.member, pair.resource)));
    for (const [index, pair] of step.entries()) {
      for (const delta of held.compare(before[index] ?? "", after[index] ?? "")) keep(pair, delta);
    }
    yield;
  }
  const differences = page.records().flatMap((member) => kept.get(member) ?? []);
  return {
    gainingMembers: gaining.count(),
    losingMembers: losing.count(),
    count,
    differences: differences.slice(0, limit),
    isWhole,
  };
}

/** Members, each once, and on which resources to look at them. Indexed by record: a map of a million would halt to grow. */
interface Pairs {
  readonly members: readonly number[];
  readonly resources: readonly (readonly Resource[] | undefined)[];
}

/** Counts members, each once. */
function createCounter({ members }: OrgSnapshot) {
  const seen = new Uint8Array(members.records.end());
  let count = 0;
  return {
    add(member: number): void {
      if (seen[member] === 0) count++;
      seen[member] = 1;
    },
    count: () => count,
  };
}

/** Whom the changes may concern, and where. */
function* collectPairs(
  snapshot: OrgSnapshot,
  { changes, now, isShown, maxPairs }: PreviewQuestion,
  trial: Trial,
): Generator<void, { pairs: Pairs; isWhole: boolean }> {
  const affected: AffectedScopes = new Map();
  addAffectedScopes(snapshot, changes, affected);
  trial(() => addAffectedScopes(snapshot, changes, affected));

  const shown = new Map<number, Resource | undefined>();
  const shownAt = (scope: number): Resource | undefined => {
    if (!shown.has(scope)) {
      const resource = resourceOf(snapshot, scope);
      shown.set(scope, resource !== undefined && isShown(resource) ? resource : undefined);
    }
    return shown.get(scope);
  };

  const resourcesOf: (readonly Resource[] | undefined)[] = [];
  resourcesOf.length = snapshot.members.records.end();
  const pairs = { members: [] as number[], resources: resourcesOf };
  let [looked, found] = [0, 0];
  for (const [subject, scopes] of affected) {
    const resources = [...scopes].map(shownAt).filter((resource) => resource !== undefined);
    if (resources.length === 0) continue;
    for (const member of membersOf(snapshot, subject, now, new Set())) {
      const others = pairs.resources[member];
      const all = others === undefined ? resources : [...new Set([...others, ...resources])];
      found += all.length - (others?.length ?? 0);
      if (found > maxPairs) return { pairs, isWhole: false };
      if (others === undefined) pairs.members.push(member);
      pairs.resources[member] = all;
      if (++looked % pairsOfStep === 0) yield;
    }
  }
  return { pairs, isWhole: true };
}

function* inSteps({ members, resources }: Pairs): Iterable<Pair[]> {
  let step: Pair[] = [];
  for (const member of members) {
    for (const resource of resources[member] ?? []) {
      step.push({ member, resource });
      if (step.length < pairsOfStep) continue;
      yield step;
      step = [];
    }
  }
  if (step.length > 0) yield step;
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
