import { parse } from "@bufbuild/cel";
import { operatorsOf, type Part } from "./parts.ts";

type Expr = ReturnType<typeof parse>["expr"];

/** The most characters that the service takes. */
const longest = 2048;

/** Reads a condition in CEL as comparisons that all have to be true; undefined if it is another one, or none. */
export function readCondition(text: string): readonly Part[] | undefined {
  if (text.trim() === "") return [];
  if (text.length > longest) return undefined;
  try {
    return readConjunction(parse(text).expr);
  } catch {
    // It is no CEL, as while somebody types. The service says where.
    return undefined;
  }
}

function readConjunction(expr: Expr): readonly Part[] | undefined {
  const call = callIn(expr);
  if (call?.name !== "_&&_") {
    const part = readPart(expr);
    return part && [part];
  }
  const parts = call.operands.map(readConjunction);
  return parts.every((each) => each !== undefined) ? parts.flat() : undefined;
}

/** A call, of which the receiver is the first operand. */
interface Call {
  readonly name: string;
  readonly operands: readonly Expr[];
}

function callIn({ exprKind }: Expr): Call | undefined {
  if (exprKind.case !== "callExpr") return undefined;
  const { function: name, target, args } = exprKind.value;
  return { name, operands: target === undefined ? args : [target, ...args] };
}

function readPart(expr: Expr): Part | undefined {
  const { name = "", operands: [left, right, ...rest] = [] } = callIn(expr) ?? {};
  if (left === undefined || right === undefined || rest.length > 0) return undefined;
  const subject = readSubject(left);
  if (subject === undefined) return undefined;
  const operator = operatorsOf[subject.about].find((each) => name === each || name === `_${each}_`);
  const value = readValue(subject, right);
  return operator === undefined || value === undefined ? undefined : { ...subject, operator, value };
}

type Subject = Pick<Part, "about" | "key">;

const fixed = new Map<string, Subject["about"]>([
  ["resource.path", "path"],
  ["subject.type", "subject"],
  ["request.time", "time"],
]);

const withKeys = new Map<string, Subject["about"]>([
  ["resource.labels", "label"],
  ["context", "context"],
]);

const partsOfTime = new Map<string, Subject["about"]>([
  ["getHours", "hour"],
  ["getDayOfWeek", "weekday"],
]);

function readSubject(expr: Expr): Subject | undefined {
  const about = fixed.get(pathIn(expr));
  if (about !== undefined) return { about, key: "" };
  const call = callIn(expr);
  const [of, argument] = call?.operands ?? [];
  const time = partsOfTime.get(call?.name ?? "");
  if (time !== undefined && of !== undefined && pathIn(of) === "request.time") {
    const zone = argument === undefined ? "UTC" : textIn(argument);
    return zone === undefined ? undefined : { about: time, key: zone };
  }
  return readKeyed(expr, call);
}

/** Reads what has a key: `context.ip` or `context["ip"]`. */
function readKeyed(expr: Expr, call: Call | undefined): Subject | undefined {
  const [indexed, argument] = call?.name === "_[_]" ? call.operands : [];
  const field = expr.exprKind.case === "selectExpr" && !expr.exprKind.value.testOnly ? expr.exprKind.value : undefined;
  const [of, key] = [indexed ?? field?.operand, argument === undefined ? field?.field : textIn(argument)];
  const about = of && withKeys.get(pathIn(of));
  return about === undefined || key === undefined ? undefined : { about, key };
}

/** Returns `resource.labels` for the field `labels` of the variable `resource`; empty for what is no such path. */
function pathIn({ exprKind }: Expr): string {
  if (exprKind.case === "identExpr") return exprKind.value.name;
  if (exprKind.case !== "selectExpr" || exprKind.value.testOnly || exprKind.value.operand === undefined) return "";
  const of = pathIn(exprKind.value.operand);
  return of === "" ? "" : `${of}.${exprKind.value.field}`;
}

function readValue({ about }: Subject, expr: Expr): string | undefined {
  if (about === "hour" || about === "weekday") return wholeNumberIn(expr);
  if (about !== "time") return textIn(expr);
  const call = callIn(expr);
  const [argument] = call?.name === "timestamp" ? call.operands : [];
  return argument && textIn(argument);
}

function textIn({ exprKind }: Expr): string | undefined {
  const constant = exprKind.case === "constExpr" ? exprKind.value.constantKind : undefined;
  return constant?.case === "stringValue" ? constant.value : undefined;
}

function wholeNumberIn({ exprKind }: Expr): string | undefined {
  const constant = exprKind.case === "constExpr" ? exprKind.value.constantKind : undefined;
  return constant?.case === "int64Value" ? String(constant.value) : undefined;
}
