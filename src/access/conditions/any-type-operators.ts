// Operators that take values of any types, as long as these go together.
import { type ConditionType, areComparable } from "./condition-types.ts";
import { type Expr, type Kind, typeOfConstant } from "./expressions.ts";

/** Throws an error about a part of a condition. */
export type Fail = (part: Expr, problem: string) => never;

/** Whole lists and maps, one inside the other, could be compared. */
const twoUnknown =
  "two attributes cannot be compared as they are; say what one of them is, as in string(context.owner) == context.user";

/** The type of what such an operator answers; undefined for any other call. */
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

/** Membership of a list that is written out, key of a map. */
function checkIn(part: Expr, container: Expr | undefined, one: ConditionType, other: ConditionType, fail: Fail): void {
  if (container?.exprKind.case === "listExpr") {
    for (const element of container.exprKind.value.elements) {
      const type = element.exprKind.case === "constExpr" ? typeOfConstant(element.exprKind.value) : "dyn";
      if (!areComparable(one, type)) fail(element, `${one} and ${type} are never equal`);
    }
  } else if (one === "dyn" && other === "dyn") {
    fail(part, twoUnknown);
  } else if (other === "map" ? one !== "string" && one !== "dyn" : other !== "dyn") {
    fail(part, `in does not take ${one}, ${other}`);
  }
}
