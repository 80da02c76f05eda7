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
