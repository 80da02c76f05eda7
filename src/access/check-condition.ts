// Goes through a parsed condition before it is kept: that its types fit, that it answers true or false, and that it cannot
// take long, whatever it is asked about. There are no loops in it and no regular expressions, the number of its operators
// and calls is bounded, and what is looked for in a text is short. The evaluator checks none of that.
import type { parse } from "@bufbuild/cel";
import { isTimeZone, timeParts } from "./condition-clock.ts";
import {
  type ConditionType,
  areComparable,
  fields,
  functions,
  methods,
  operators,
  resolveCall,
  variables,
} from "./condition-types.ts";

type Parsed = ReturnType<typeof parse>;
type Expr = Parsed["expr"];
type Kind<Case extends Expr["exprKind"]["case"]> = Extract<Expr["exprKind"], { case: Case }>["value"];

/** Whole lists and maps, one inside the other, could be compared. */
const twoUnknown =
  "two attributes cannot be compared as they are; say what one of them is, as in string(context.owner) == context.user";

const maxCalls = 50;
const maxDepth = 100;
/** Longer ones can take time by the square: the search through a text goes forth and back. */
const maxSearched = 250;

/** What is wrong with a condition. */
export class ConditionError extends Error {
  override readonly name = "ConditionError";
}

/** @throws ConditionError that says what is wrong, and at which column. */
export function checkParsedCondition({ expr, sourceInfo }: Parsed): void {
  let calls = 0;
  let depth = 0;

  const fail = ({ id }: Expr, problem: string): never => {
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

  const typeOfCall = (part: Expr, { function: name, target, args }: Kind<"callExpr">): ConditionType => {
    if (++calls > maxCalls) fail(part, `has more than ${maxCalls} operators and calls`);
    if (name === "matches") {
      fail(part, "matches cannot be used here: it may take too long; use startsWith, endsWith or contains");
    }
    const given = [...(target === undefined ? [] : [target]), ...args];
    const types = given.map(typeOf);
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
        return typeOfIn(part, args, one, other);
    }
    const table = target === undefined ? { ...operators, ...functions } : methods;
    const overloads = Object.hasOwn(table, name) ? table[name] : undefined;
    if (overloads === undefined) fail(part, `there is no ${name} here`);
    const answer = resolveCall(overloads ?? [], types);
    if (answer === undefined) fail(part, `${plain(name)} does not take ${types.join(", ")}`);
    checkTexts(name, args);
    return answer ?? "dyn";
  };

  /** Membership of a list that is written out, key of a map. */
  const typeOfIn = (part: Expr, args: readonly Expr[], one: ConditionType, other: ConditionType): ConditionType => {
    const listed = args[1]?.exprKind;
    if (listed?.case === "listExpr") {
      for (const element of listed.value.elements) {
        const type = element.exprKind.case === "constExpr" ? typeOfConstant(element.exprKind.value) : "dyn";
        if (!areComparable(one, type)) fail(element, `${one} and ${type} are never equal`);
      }
    } else if (one === "dyn" && other === "dyn") {
      fail(part, twoUnknown);
    } else if (other === "map" ? one !== "string" && one !== "dyn" : other !== "dyn") {
      fail(part, `in does not take ${one}, ${other}`);
    }
    return "bool";
  };

  /** Some texts have to be known beforehand. */
  const checkTexts = (name: string, [text]: readonly Expr[]): void => {
    if (text === undefined) return;
    if (name === "contains" && (textOf(text)?.length ?? Infinity) > maxSearched) {
      fail(text, `contains takes a text in quotes of at most ${maxSearched} characters`);
    }
    if (timeParts.includes(name) && !isTimeZone(textOf(text) ?? "")) {
      fail(text, `${name} takes a time zone in quotes, such as "Europe/Berlin" or "+02:00"`);
    }
    if (name === "timestamp" || name === "duration") checkTime(name, text);
  };

  const checkTime = (name: "timestamp" | "duration", text: Expr): void => {
    const given = textOf(text);
    if (given === undefined) return;
    const isTime =
      name === "timestamp"
        ? /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(given) &&
          !Number.isNaN(Date.parse(given))
        : /^[+-]?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(given);
    const example = name === "timestamp" ? '"2026-01-31T12:00:00Z"' : '"1h30m"';
    if (!isTime) fail(text, `${name} takes a text such as ${example}`);
  };

  const answer = typeOf(expr);
  if (answer !== "bool" && answer !== "dyn") throw new ConditionError(`must be true or false, not a ${answer}`);
}

function typeOfConstant({ constantKind }: Kind<"constExpr">): ConditionType {
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

function fieldOf(type: ConditionType, field: string): ConditionType | undefined {
  if (type === "dyn") return "dyn";
  if (type === "map") return "string";
  const known = fields[type];
  return known !== undefined && Object.hasOwn(known, field) ? known[field] : undefined;
}

/** The text that is written out; undefined when it is known only later. */
function textOf({ exprKind }: Expr): string | undefined {
  const constant = exprKind.case === "constExpr" ? exprKind.value.constantKind : undefined;
  return constant?.case === "stringValue" ? constant.value : undefined;
}

function describeFields(type: ConditionType): string {
  const known = fields[type];
  return known === undefined ? "" : `; there is ${Object.keys(known).join(", ")}`;
}

/** An operator as it is written: `_<_` → `<`. */
const plain = (name: string): string => name.replaceAll(/^_|_$|^@/g, "");
