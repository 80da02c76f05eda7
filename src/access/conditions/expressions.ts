// Parts of a parsed condition.
import type { parse } from "@bufbuild/cel";
import type { ConditionType } from "./condition-types.ts";

export type ParsedCondition = ReturnType<typeof parse>;
export type Expr = ParsedCondition["expr"];
export type Kind<Case extends Expr["exprKind"]["case"]> = Extract<Expr["exprKind"], { case: Case }>["value"];

export function typeOfConstant({ constantKind }: Kind<"constExpr">): ConditionType {
  switch (constantKind.case) {
    case "boolValue":
      return "bool";
    case "int64Value":
      return "int";
    case "uint64Value":
      return "uint";
    case "doubleValue":
      return "double";
    case "stringValue":
      return "string";
    case "bytesValue":
      return "bytes";
    case "nullValue":
      return "null";
    case "durationValue":
      return "duration";
    case "timestampValue":
      return "timestamp";
    case undefined:
      return "dyn";
  }
}

/** Returns the value of a string literal; undefined for any other expression. */
export function textOf({ exprKind }: Expr): string | undefined {
  const constant = exprKind.case === "constExpr" ? exprKind.value.constantKind : undefined;
  return constant?.case === "stringValue" ? constant.value : undefined;
}

/** Counts the constants, variables, fields, calls and lists of an expression. */
export function countParts({ exprKind }: Expr): number {
  return 1 + partsOf(exprKind).reduce((count, part) => count + countParts(part), 0);
}

function partsOf(exprKind: Expr["exprKind"]): readonly Expr[] {
  switch (exprKind.case) {
    case "selectExpr":
      return exprKind.value.operand === undefined ? [] : [exprKind.value.operand];
    case "callExpr":
      return exprKind.value.target === undefined
        ? exprKind.value.args
        : [exprKind.value.target, ...exprKind.value.args];
    case "listExpr":
      return exprKind.value.elements;
    default:
      return [];
  }
}
