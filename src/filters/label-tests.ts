import type { Condition, Operand } from "./condition.ts";

/** That a resource has a label: one with this key, and this value unless any will do. */
export interface LabelTest {
  readonly key: string;
  readonly value?: string;
}

/** A filter in two parts, of which both must hold. */
interface SplitFilter {
  readonly labels: readonly LabelTest[];
  readonly others: Condition;
}

/** More would cost the planner of the statement more than they save: each is one more table to join. */
const maxLabels = 3;

/** Takes out of a filter what the index of labels answers: those that everything it lets through must have. */
export function takeLabelTests(condition: Condition): SplitFilter {
  const labels: LabelTest[] = [];
  const conditions = conjuncts(condition).filter((each) => {
    const test = labels.length < maxLabels ? labelTest(each) : undefined;
    if (test !== undefined) labels.push(test);
    return test === undefined;
  });
  return { labels, others: { kind: "all", conditions } };
}

function conjuncts(condition: Condition): readonly Condition[] {
  return condition.kind === "all" ? condition.conditions.flatMap(conjuncts) : [condition];
}

function labelTest(condition: Condition): LabelTest | undefined {
  switch (condition.kind) {
    case "present":
      return isLabel(condition.operand) ? { key: condition.operand.key } : undefined;
    case "compare": {
      const { operand, comparator, value } = condition;
      return isLabel(operand) && comparator === "=" ? { key: operand.key, value } : undefined;
    }
    default:
      return undefined;
  }
}

function isLabel(operand: Operand): operand is Operand & { readonly kind: "entry" } {
  return operand.kind === "entry" && operand.isLabels;
}
