import { compileParsedCondition, parseCondition } from "../conditions/compile-condition.ts";
import { countParts } from "../conditions/expressions.ts";
import { splitConjunction } from "../conditions/split-conjunction.ts";
import { type ConditionInput, contextOf } from "./condition-input.ts";

/**
 * Returns the parts of a condition that are not true, as they are written: of `a && b` those of the two; a condition without `&&` as a
 * whole. A part that cannot be evaluated, such as one about an attribute that the request does not have, is not true either. Empty if
 * no condition can hold, because the target has no single path.
 *
 * @param condition one that does not hold for the input.
 * @throws ServiceError LIMIT_EXCEEDED when the evaluation costs too much.
 */
export function findFalseParts(condition: string, input: ConditionInput): readonly string[] {
  const context = contextOf(input);
  if (context === undefined) return [];
  const budget = input.check.conditions.startDecision();
  const isTrue = (part: string): boolean => {
    // A part may end with a comment, whose end is a line end.
    const parsed = parseCondition(`${part}\n`);
    budget.spend(countParts(parsed.expr), context);
    const holds = compileParsedCondition(parsed);
    try {
      return holds(context);
    } catch {
      return false;
    }
  };
  const parts = splitConjunction(condition);
  return parts.length === 1 ? parts : parts.filter((part) => !isTrue(part));
}
