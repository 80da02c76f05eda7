// Finds what a plan would break of what somebody shall be able to do, or not, and which change does it.
import type { Steps } from "../../scheduling/steps.ts";
import { type DryRun, createDryRun } from "../engine/decisions/dry-run.ts";
import { applyEntry } from "../engine/loading/apply-entry.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allows } from "../evaluation/allows.ts";
import { createRequestConditions } from "../evaluation/condition-budget.ts";
import { resolveById } from "../evaluation/resolve-in-snapshot.ts";
import type { PlannedChanges, PlannedStep } from "./planned-changes.ts";

/** What a member or group shall hold, or not, on the org or a project. */
export interface Expectation {
  readonly subject: { readonly kind: "member" | "group"; readonly id: string };
  readonly permission: string;
  /** Undefined for the org. */
  readonly projectId: string | undefined;
  readonly isAllowed: boolean;
}

export interface BrokenExpectation {
  /** That of the expectation. */
  readonly index: number;
  /**
   * The index of the last change after which it does not hold, if it holds before that; `before` if it did not hold before the changes.
   * Undefined for those for which this was not looked for.
   */
  readonly since: number | "before" | undefined;
}

/** For how many the change is looked for: all of them are evaluated after each change. */
const maxExplained = 20;

/** How long expectations are evaluated in a dry run, which itself takes some milliseconds for thousands of changes. */
const stepMs = 5;

/**
 * Evaluates expectations as of a time, in milliseconds. Leaves the snapshot changed: it is of no more use.
 *
 * @throws ServiceError LIMIT_EXCEEDED when the conditions cost too much.
 */
export function* findBroken(
  snapshot: OrgSnapshot,
  { revision, steps }: Pick<PlannedChanges, "revision" | "steps">,
  expectations: readonly Expectation[],
  now: number,
): Steps<readonly BrokenExpectation[]> {
  const conditions = createRequestConditions();
  const holds = ({ subject, permission, projectId, isAllowed }: Expectation): boolean => {
    const check = { subject, now, attributes: {}, counted: "all" as const, conditions };
    return allows(snapshot, check, permission, resolveById(snapshot, projectId)) === isAllowed;
  };
  const entries = steps.flatMap((step) => step.entries);
  const dryRun = withLabels(snapshot, steps, createDryRun(snapshot, revision, entries));
  const broken: number[] = [];
  for (let next = 0; next < expectations.length;) {
    next = dryRun(() => {
      const endMs = performance.now() + stepMs;
      let index = next;
      for (; index < expectations.length && performance.now() < endMs; index++) {
        const expectation = expectations[index];
        if (expectation !== undefined && !holds(expectation)) broken.push(index);
      }
      return index;
    });
    yield;
  }
  const since = new Map<number, number | "before">();
  const explained = broken.slice(0, maxExplained).map((index) => ({ index, expectation: expectations[index] }));
  const held = new Set<number>();
  for (const [number, step] of [undefined, ...steps].entries()) {
    if (explained.length === 0) break;
    if (step !== undefined) makeStep(snapshot, step);
    for (const { index, expectation } of explained) {
      if (expectation === undefined) continue;
      const isHeld = holds(expectation);
      if (isHeld) held.add(index);
      else if (number === 0) since.set(index, "before");
      else if (held.delete(index)) since.set(index, number - 1);
    }
    yield;
  }
  return broken.map((index) => ({ index, since: since.get(index) }));
}

function makeStep(snapshot: OrgSnapshot, { entries, labels }: PlannedStep): void {
  for (const entry of entries) applyEntry(snapshot, entry);
  if (labels !== undefined) snapshot.labels.put(labels.id, labels.after);
}

/** A dry run has no labels, which only conditions see. */
function withLabels({ labels: table }: OrgSnapshot, steps: readonly PlannedStep[], dryRun: DryRun): DryRun {
  const moves = steps.flatMap(({ labels }) => labels ?? []);
  return (look) => {
    for (const { id, after } of moves) table.put(id, after);
    try {
      return dryRun(look);
    } finally {
      for (const { id, before } of moves) table.put(id, before);
    }
  };
}
