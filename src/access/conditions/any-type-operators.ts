// Operators that accept operands of any type, provided that the types are compatible.
import { type ConditionType, areComparable } from "./condition-types.ts";
import { type Expr, type Kind, typeOfConstant } from "./expressions.ts";

/** Throws an error about a part of a condition. */
export type Fail = (part: Expr, problem: string) => never;

/** The error for comparing two values of unknown type, which could be whole lists and maps, nested in each other. */
const twoUnknown =
  "two attributes of unknown type cannot be compared; convert one of them, as in string(context.owner) == context.user";

/** Returns the result type of such an operator; undefined for any other call. */
export function typeOfAnyTypeOperator(
  part: Expr,
  { function: name, args }: Kind<"callExpr">,
  types: readonly ConditionType[],
  fail: Fail,
): ConditionType | undefined {
  const [one = "dyn", other = "dyn", last = "dyn"] = types;
  switch (name) {
    case "_==_":
    case "_!=_":
      if (!areComparable(one, other)) fail(part, `${one} and ${other} are never equal`);
      if (one === "dyn" && other === "dyn") fail(part, twoUnknown);
      return "bool";
    case "_?_:_":
      if (one !== "bool" && one !== "dyn") fail(part, `must be bool before the question mark, not ${one}`);
      return other === last ? other : "dyn";
    case "@in":
      checkIn(part, args[1], one, other, fail);
      return "bool";
    default:
      return undefined;
  }
}

/** Checks membership in a list literal, or whether a map has a key. */
function checkIn(part: Expr, container: Expr | undefined, one: ConditionType, other: ConditionType, fail: Fail): void {
  if (container?.exprKind.case === "listExpr") {
    for (const element of container.exprKind.value.elements) {
      const type = element.exprKind.case === "constExpr" ? typeOfConstant(element.exprKind.value) : "dyn";
      if (!areComparable(one, type)) fail(element, `${one} and ${type} are never equal`);
    }
  } else if (one === "dyn" && other === "dyn") {
    fail(part, twoUnknown);
  } else if (other === "map" ? one !== "string" && one !== "dyn" : other !== "dyn") {
    fail(part, `in does not accept ${one}, ${other}`);
  }
}
