// Goes through a parsed condition before it is kept: that its types fit, that it answers true or false, and that it cannot
// take long, whatever it is asked about. There are no loops in it and no regular expressions, the number of its operators
// and calls is bounded, and what is looked for in a text is short. The evaluator checks none of that.
import { type Fail, typeOfAnyTypeOperator } from "./any-type-operators.ts";
import {
  type ConditionType,
  fields,
  functions,
  methods,
  operators,
  resolveCall,
  variables,
} from "./condition-types.ts";
import { findTextProblem } from "./find-text-problem.ts";
import { type Expr, type Kind, type ParsedCondition, typeOfConstant } from "./expressions.ts";

const maxCalls = 50;
const maxDepth = 100;

/** What is wrong with a condition. */
export class ConditionError extends Error {
  override readonly name = "ConditionError";
}

/** @throws ConditionError that says what is wrong, and at which column. */
export function checkParsedCondition({ expr, sourceInfo }: ParsedCondition): void {
  let calls = 0;
  let depth = 0;

  const fail: Fail = ({ id }, problem) => {
    const offset = sourceInfo?.positions[String(id)];
    throw new ConditionError(offset === undefined ? problem : `at column ${offset + 1}: ${problem}`);
  };

  const typeOf = (part: Expr): ConditionType => {
    if (++depth > maxDepth) fail(part, `is nested more than ${maxDepth} levels deep`);
    const type = typeOfKind(part);
    depth--;
    return type;
  };

  const typeOfKind = (part: Expr): ConditionType => {
    const { exprKind } = part;
    switch (exprKind.case) {
      case "constExpr":
        return typeOfConstant(exprKind.value);
      case "identExpr":
        return typeOfVariable(part, exprKind.value);
      case "selectExpr":
        return typeOfField(part, exprKind.value);
      case "callExpr":
        return typeOfCall(part, exprKind.value);
      case "listExpr":
        for (const element of exprKind.value.elements) typeOf(element);
        return "list";
      case "comprehensionExpr":
        return fail(part, "all, exists, exists_one, map and filter cannot be used here: they may take too long");
      case "structExpr":
        return fail(part, "maps and messages cannot be made here");
      case undefined:
        return fail(part, "is not an expression");
    }
  };

  const typeOfVariable = (part: Expr, { name }: Kind<"identExpr">): ConditionType => {
    const known = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return known ?? fail(part, `there is no ${name}; there is ${Object.keys(variables).join(", ")}`);
  };

  const typeOfField = (part: Expr, { operand, field, testOnly }: Kind<"selectExpr">): ConditionType => {
    const type = operand === undefined ? fail(part, `there is no ${field}`) : typeOf(operand);
    const found = fieldOf(type, field) ?? fail(part, `there is no ${field} here${describeFields(type)}`);
    return testOnly ? "bool" : found;
  };

  const typeOfCall = (part: Expr, call: Kind<"callExpr">): ConditionType => {
    const { function: name, target, args } = call;
    if (++calls > maxCalls) fail(part, `has more than ${maxCalls} operators and calls`);
    if (name === "matches") {
      fail(part, "matches cannot be used here: it may take too long; use startsWith, endsWith or contains");
    }
    const given = [...(target === undefined ? [] : [target]), ...args];
    const types = given.map(typeOf);
    const special = typeOfAnyTypeOperator(part, call, types, fail);
    if (special !== undefined) return special;
    const table = target === undefined ? { ...operators, ...functions } : methods;
    const overloads = Object.hasOwn(table, name) ? table[name] : undefined;
    if (overloads === undefined) fail(part, `there is no ${name} here`);
    const answer = resolveCall(overloads ?? [], types);
    if (answer === undefined) fail(part, `${plain(name)} does not take ${types.join(", ")}`);
    const [text] = args;
    const problem = text && findTextProblem(name, text);
    if (text !== undefined && problem !== undefined) fail(text, problem);
    return answer ?? "dyn";
  };

  const answer = typeOf(expr);
  if (answer !== "bool" && answer !== "dyn") throw new ConditionError(`must be true or false, not a ${answer}`);
}

function fieldOf(type: ConditionType, field: string): ConditionType | undefined {
  if (type === "dyn") return "dyn";
  if (type === "map") return "string";
  const known = fields[type];
  return known !== undefined && Object.hasOwn(known, field) ? known[field] : undefined;
}

function describeFields(type: ConditionType): string {
  const known = fields[type];
  return known === undefined ? "" : `; there is ${Object.keys(known).join(", ")}`;
}

/** An operator as it is written: `_<_` → `<`. */
const plain = (name: string): string => name.replaceAll(/^_|_$|^@/g, "");
