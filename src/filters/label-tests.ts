import type { Condition, Operand } from "./condition.ts";

export interface LabelTest {
  readonly key: string;
  readonly value?: string;
}

/** A filter as a conjunction of two parts. */
interface SplitFilter {
  readonly labels: readonly LabelTest[];
  readonly others: Condition;
}

/** Each test adds a table to join. More would cost more planning time than they save. */
const maxLabels = 3;

/** Extracts the conditions that the label index can answer: labels that every matching row must have. */
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
