// What a condition reads of what people can change: changing it may change who holds which permissions.
import { parseCondition } from "./compile-condition.ts";
import { type Expr, type ParsedCondition, textOf } from "./expressions.ts";

export interface ConditionDependencies {
  readonly subject: boolean;
  readonly path: boolean;
  /** The keys of the labels; `any` if the condition computes a key, or reads all labels. */
  readonly labels: ReadonlySet<string> | "any";
}

/** Returns what a condition reads. A condition that cannot be parsed is taken to read everything. */
export function dependenciesOf(condition: string): ConditionDependencies {
  try {
    return dependenciesOfParsed(parseCondition(condition));
  } catch {
    return { subject: true, path: true, labels: "any" };
  }
}

/** A variable of what people can change. */
export type NamedVariable = "resource" | "subject";

/**
 * Whether a condition may read anything of a variable: its name is in the text. CEL has no other way to write a name: escapes are for
 * strings, and no string is evaluated. A comment or a string with the word counts, too. Takes a thousandth of the time to parse it.
 */
export function mayName(condition: string, variable: NamedVariable): boolean {
  return condition.includes(variable);
}

export function readsLabel({ labels }: ConditionDependencies, key: string): boolean {
  return labels === "any" || labels.has(key);
}

/** @throws Error when `checkParsedCondition` refuses the condition. */
export function dependenciesOfParsed({ expr: whole }: ParsedCondition): ConditionDependencies {
  const keys = new Set<string>();
  const reads = { subject: false, path: false, allLabels: false };

  const visitLabels = (key: string | undefined): void => {
    if (key === undefined) reads.allLabels = true;
    else keys.add(key);
  };

  const visit = (expr: Expr | undefined): void => {
    const { exprKind } = expr ?? { exprKind: { case: undefined } };
    switch (exprKind.case) {
      case "constExpr":
        return;
      case "identExpr":
        if (exprKind.value.name === "subject") reads.subject = true;
        else if (exprKind.value.name === "resource") Object.assign(reads, { path: true, allLabels: true });
        return;
      case "selectExpr": {
        const { operand, field } = exprKind.value;
        if (isLabels(operand)) visitLabels(field);
        else if (isLabels(expr)) visitLabels(undefined);
        else if (isVariable(operand, "resource") && field === "path") reads.path = true;
        else visit(operand);
        return;
      }
      case "callExpr": {
        const { function: name, target, args } = exprKind.value;
        const [first, second] = args;
        if (name === "_[_]" && isLabels(first)) {
          visitLabels(second && textOf(second));
          visit(second);
        } else if (name === "@in" && isLabels(second)) {
          visitLabels(first && textOf(first));
          visit(first);
        } else for (const part of [...(target === undefined ? [] : [target]), ...args]) visit(part);
        return;
      }
      case "listExpr":
        for (const element of exprKind.value.elements) visit(element);
        return;
      case "comprehensionExpr":
      case "structExpr":
      case undefined:
        throw new Error("no stored condition has such an expression");
    }
  };

  visit(whole);
  return { subject: reads.subject, path: reads.path, labels: reads.allLabels ? "any" : keys };
}

function isVariable(expr: Expr | undefined, name: string): boolean {
  return expr?.exprKind.case === "identExpr" && expr.exprKind.value.name === name;
}

function isLabels(expr: Expr | undefined): boolean {
  if (expr?.exprKind.case !== "selectExpr") return false;
  const { operand, field, testOnly } = expr.exprKind.value;
  return isVariable(operand, "resource") && field === "labels" && !testOnly;
}
