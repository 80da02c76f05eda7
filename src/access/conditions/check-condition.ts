// Checks a parsed condition before it is stored: its types fit, its result is a boolean, and its evaluation is fast for any
// input. Loops and regular expressions are not allowed, the number of operators and calls is bounded, and the text that
// `contains` searches for is short. The evaluator checks none of this.
import { type Fail, typeOfAnyTypeOperator } from "./any-type-operators.ts";
import {
  type ConditionType,
  type Variables,
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

export class ConditionError extends Error {
  override readonly name = "ConditionError";
}

/**
 * @param known the variables, with their types.
 * @throws ConditionError that names the problem and its column.
 */
export function checkParsedCondition({ expr, sourceInfo }: ParsedCondition, known: Variables = variables): void {
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
        return fail(
          part,
          "all, exists, exists_one, map and filter are not allowed in conditions: they may take too long",
        );
      case "structExpr":
        return fail(part, "map and message literals are not allowed in conditions");
      case undefined:
        return fail(part, "is not an expression");
    }
  };

  const typeOfVariable = (part: Expr, { name }: Kind<"identExpr">): ConditionType => {
    const type = Object.hasOwn(known, name) ? known[name] : undefined;
    return type ?? fail(part, `unknown variable ${name}; ${describeVariables(known)}`);
  };

  const typeOfField = (part: Expr, { operand, field, testOnly }: Kind<"selectExpr">): ConditionType => {
    const type = operand === undefined ? fail(part, `unknown field ${field}`) : typeOf(operand);
    const found = fieldOf(type, field) ?? fail(part, `unknown field ${field}${describeFields(type)}`);
    return testOnly ? "bool" : found;
  };

  const typeOfCall = (part: Expr, call: Kind<"callExpr">): ConditionType => {
    const { function: name, target, args } = call;
    if (++calls > maxCalls) fail(part, `has more than ${maxCalls} operators and calls`);
    if (name === "matches") {
      fail(part, "matches is not allowed in conditions: it may take too long; use startsWith, endsWith or contains");
    }
    const given = [...(target === undefined ? [] : [target]), ...args];
    const types = given.map(typeOf);
    const special = typeOfAnyTypeOperator(part, call, types, fail);
    if (special !== undefined) return special;
    const table = target === undefined ? { ...operators, ...functions } : methods;
    const overloads = Object.hasOwn(table, name) ? table[name] : undefined;
    if (overloads === undefined) fail(part, `unknown function ${name}`);
    const answer = resolveCall(overloads ?? [], types);
    if (answer === undefined) fail(part, `${plain(name)} does not accept ${types.join(", ")}`);
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

function describeVariables(known: Variables): string {
  const names = Object.keys(known);
  return names.length === 1 ? `the only variable is ${names[0]}` : `the variables are ${names.join(", ")}`;
}

function describeFields(type: ConditionType): string {
  const known = fields[type];
  return known === undefined ? "" : `; the fields are ${Object.keys(known).join(", ")}`;
}

/** Returns an operator as it is written: `_<_` → `<`. */
const plain = (name: string): string => name.replaceAll(/^_|_$|^@/g, "");
