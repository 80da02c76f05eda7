// Conditions of role bindings: CEL expressions that decide when a binding applies.
import { type CelInput, celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConditionError, checkParsedCondition } from "./check-condition.ts";
import { createTimeMethods } from "./condition-clock.ts";
import type { Variables } from "./condition-types.ts";
import type { ParsedCondition } from "./expressions.ts";

/** The maximum length of an expression, in characters. */
const maxLength = 2048;
/** The maximum number of brackets: more than anybody writes, and few enough for the parser's stack. */
const maxBrackets = 100;

/** The most white space in a row. At each operator that may follow, the parser looks at it in a time that grows with its square. */
const maxSpaces = 100;

export interface ConditionContext {
  readonly request: { readonly time: Date };
  readonly resource: { readonly path: string; readonly labels: Readonly<Record<string, string>> };
  /** The type is `member` or `group`. */
  readonly subject: { readonly path: string; readonly type: string };
  /**
   * The attributes that the caller of a check sends. The code that reads them from a request bounds their cost: with at most
   * 4096 characters and 100 values in all, a decision takes well below a millisecond.
   */
  readonly context: Readonly<Record<string, CelInput>>;
}

/**
 * Checks an expression. Returns the problem, as a phrase that follows the field's name, or undefined if the expression is
 * valid.
 *
 * @param known the variables; by default those of a condition.
 */
export function checkCondition(expression: string, known?: Variables): string | undefined {
  if (expression.length > maxLength) return `must be at most ${maxLength} characters`;
  // PostgreSQL stores no text with this character.
  if (expression.includes("\0")) return "must not contain the character U+0000";
  try {
    checkParsedCondition(parseCondition(expression), known);
    return undefined;
  } catch (error) {
    if (error instanceof ConditionError) return error.message;
    throw error;
  }
}

/**
 * Compiles a condition to a predicate.
 *
 * @throws ConditionError when `checkCondition` refuses the expression. The predicate throws when the evaluation fails or its
 *   result is not a boolean.
 */
export function compileCondition(expression: string): (context: ConditionContext) => boolean {
  return compileParsedCondition(parseCondition(expression));
}

/** Does the same with a condition that `parseCondition` returned, which takes most of the time. */
export function compileParsedCondition(parsed: ParsedCondition): (context: ConditionContext) => boolean {
  const holds = planExpression(parsed);
  return ({ request, resource, subject, context }) =>
    holds({ request: { time: timestampFromDate(request.time) }, resource, subject, context });
}

/** Does so with an expression over other variables, whose values the predicate gets. */
export function planExpression(
  parsed: ParsedCondition,
  known?: Variables,
): (values: Readonly<Record<string, CelInput>>) => boolean {
  checkParsedCondition(parsed, known);
  const evaluate = plan(environment, parsed);
  return (values) => {
    const answer = evaluate(values);
    if (isCelError(answer)) throw answer;
    if (typeof answer !== "boolean") throw new ConditionError("evaluates to neither true nor false");
    return answer;
  };
}

const environment = celEnv({ funcs: createTimeMethods() });

/** @throws ConditionError when the expression is not valid CEL, or has too many brackets or spaces. */
export function parseCondition(expression: string): ParsedCondition {
  requireFewBrackets(expression);
  requireFewSpaces(expression);
  try {
    return parse(expression);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, line, column, problem] = /^<input>:(\d+):(\d+): (.*)$/s.exec(message) ?? [];
    const place = line === "1" ? `column ${column}` : `line ${line}, column ${column}`;
    throw new ConditionError(problem === undefined ? `is not valid CEL: ${message}` : `at ${place}: ${problem}`);
  }
}

/** Bounds the number of brackets, because the parser recurses for each. Brackets in string literals count, too. */
function requireFewBrackets(expression: string): void {
  const count = expression.match(/[([{]/g)?.length ?? 0;
  if (count > maxBrackets) throw new ConditionError(`has more than ${maxBrackets} brackets`);
}

/** Bounds white space. That in string literals counts, too. */
function requireFewSpaces(expression: string): void {
  if (longSpace.test(expression)) throw new ConditionError(`has more than ${maxSpaces} spaces or line ends in a row`);
}

const longSpace = new RegExp(`[\\t\\n\\f\\r ]{${maxSpaces + 1}}`);
