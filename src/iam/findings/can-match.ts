import type { Condition } from "../../filters/condition.ts";

/**
 * Reports whether a filter can match findings of a kind, whatever else they are. So a filter by kind keeps the candidates of other kinds from
 * being read. The kind is the only enum among the fields.
 */
export function canMatch(condition: Condition, kind: string): boolean {
  return decide(condition, kind) !== false;
}

/** Undefined if that depends on the other fields. */
function decide(condition: Condition, kind: string): boolean | undefined {
  switch (condition.kind) {
    case "all": {
      const decided = new Set(condition.conditions.map((each) => decide(each, kind)));
      return decided.has(false) ? false : decided.has(undefined) ? undefined : true;
    }
    case "any": {
      const decided = new Set(condition.conditions.map((each) => decide(each, kind)));
      return decided.has(true) ? true : decided.has(undefined) ? undefined : false;
    }
    case "not": {
      const decided = decide(condition.condition, kind);
      return decided === undefined ? undefined : !decided;
    }
    case "compare": {
      const { operand, comparator, value } = condition;
      if (operand.kind !== "enum") return undefined;
      if (comparator === "=") return value === kind;
      return comparator === "!=" ? value !== kind : undefined;
    }
    case "present":
    case "like":
    case "contains":
      return undefined;
  }
}
