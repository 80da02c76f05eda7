import { type ConditionContext, compileParsedCondition, parseCondition } from "../conditions/compile-condition.ts";
import { dependenciesOfParsed } from "../conditions/condition-dependencies.ts";
import { countParts } from "../conditions/expressions.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { CompiledCondition } from "../engine/tables/condition-table.ts";
import { subjectPathIn } from "../snapshots/snapshot-paths.ts";
import type { CheckRequest } from "./check-request.ts";
import type { DecisionBudget } from "./condition-budget.ts";
import type { DecisionTarget } from "./resolved-target.ts";

/** Stands for the subject in the results of conditions that do not read it. */
const anybody: ConditionContext["subject"] = { path: "", type: "" };

/** What conditions see of a check. */
interface ConditionCheck extends Omit<CheckRequest, "counted" | "subject"> {
  /** Undefined for conditions that do not read the subject. */
  readonly subject: CheckRequest["subject"] | undefined;
}

/** What a decision gives to conditions. Most decisions need none, so the rest is built for the first. */
export interface ConditionInput {
  readonly snapshot: OrgSnapshot;
  readonly check: ConditionCheck;
  readonly target: DecisionTarget;
  opened: OpenedInput | undefined;
}

interface OpenedInput {
  /** Undefined if the target has no path, or its labels are not known; then no condition holds. */
  readonly context: ConditionContext | undefined;
  readonly budget: DecisionBudget;
  /** The results for the context, by expression. */
  readonly results: Map<string, boolean>;
  /** The results of conditions that do not read the subject. */
  readonly resultsForAll: Map<string, boolean>;
}

export function conditionInputOf(snapshot: OrgSnapshot, check: ConditionCheck, target: DecisionTarget): ConditionInput {
  return { snapshot, check, target, opened: undefined };
}

/**
 * Compiles a condition to a predicate on a `ConditionInput`. A condition whose evaluation fails does not hold.
 *
 * @throws ConditionError when the condition is not valid. The predicate throws ServiceError LIMIT_EXCEEDED when the budget of the
 *   decision or of the request is spent.
 */
export function compileWithinBudget(expression: string): CompiledCondition {
  const parsed = parseCondition(expression);
  const holds = compileParsedCondition(parsed);
  // Without attributes, a part takes at most about 15 µs; with them, up to that for each 256 characters more.
  const cost = countParts(parsed.expr);
  const isForAll = !dependenciesOfParsed(parsed).subject;

  const test = (given: unknown): boolean => {
    const input = given as ConditionInput;
    input.opened ??= open(input);
    const { context, budget } = input.opened;
    if (context === undefined) return false;
    const results = isForAll ? input.opened.resultsForAll : input.opened.results;
    const known = results.get(expression);
    if (known !== undefined) {
      budget.spendOnKnown();
      return known;
    }
    budget.spend(cost, context);
    const result = evaluate(holds, context);
    results.set(expression, result);
    return result;
  };
  return Object.assign(test, { isForAll });
}

/** Returns what conditions see of a target; undefined if no condition can hold, as in `OpenedInput`. */
export function contextOf(input: ConditionInput): ConditionContext | undefined {
  input.opened ??= open(input);
  return input.opened.context;
}

function open({ snapshot, check, target }: ConditionInput): OpenedInput {
  const { attributes, conditions, now, subject } = check;
  const budget = conditions.startDecision();
  const resource = describe(target);
  if (resource === undefined) return { context: undefined, budget, results: new Map(), resultsForAll: new Map() };
  const context = {
    request: { time: new Date(now) },
    resource,
    subject: subject === undefined ? anybody : { path: subjectPathIn(snapshot, subject), type: subject.kind },
    context: attributes,
  };
  const results = conditions.resultsOf(snapshot.revision, context);
  const resultsForAll = conditions.resultsOf(snapshot.revision, { ...context, subject: anybody });
  return { context, budget, results, resultsForAll };
}

function evaluate(holds: (context: ConditionContext) => boolean, context: ConditionContext): boolean {
  try {
    return holds(context);
  } catch {
    return false;
  }
}

function describe(target: DecisionTarget): ConditionContext["resource"] | undefined {
  try {
    return { path: target.path(), labels: target.labels() };
  } catch {
    return undefined;
  }
}
