// Conditions of role bindings: CEL expressions that say when a binding holds.
import { type CelInput, celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConditionError, checkParsedCondition } from "./conditions/check-condition.ts";
import { createTimeMethods } from "./conditions/condition-clock.ts";

/** The longest expression, in characters. */
const maxLength = 2048;
/** More than anybody writes, and what the parser's stack takes with ease. */
const maxBrackets = 100;

/** What a condition is asked about. */
export interface ConditionContext {
  readonly request: { readonly time: Date };
  readonly resource: { readonly path: string; readonly labels: Readonly<Record<string, string>> };
  /** The type is `member` or `group`. */
  readonly subject: { readonly path: string; readonly type: string };
  /**
   * What the caller of a check passed. What reads it from a request bounds its cost: 4096 characters and 100 values in all keep
   * a decision well below a millisecond.
   */
  readonly context: Readonly<Record<string, CelInput>>;
}

/** What is wrong with an expression, as a sentence that goes on after the field's name; undefined when it can be used. */
export function checkCondition(expression: string): string | undefined {
  if (expression.length > maxLength) return `must be at most ${maxLength} characters`;
  try {
    checkParsedCondition(parseCondition(expression));
    return undefined;
  } catch (error) {
    if (error instanceof ConditionError) return error.message;
    throw error;
  }
}

/**
 * Makes the test of a condition.
 *
 * @throws ConditionError when `checkCondition` refuses it; the test throws when the expression fails or answers neither true
 *   nor false.
 */
export function compileCondition(expression: string): (context: ConditionContext) => boolean {
  const parsed = parseCondition(expression);
  checkParsedCondition(parsed);
  const evaluate = plan(environment, parsed);
  return ({ request, resource, subject, context }) => {
    const answer = evaluate({ request: { time: timestampFromDate(request.time) }, resource, subject, context });
    if (isCelError(answer)) throw answer;
    if (typeof answer !== "boolean") throw new ConditionError("answers neither true nor false");
    return answer;
  };
}

const environment = celEnv({ funcs: createTimeMethods() });

function parseCondition(expression: string): ReturnType<typeof parse> {
  requireFewBrackets(expression);
  try {
    return parse(expression);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, line, column, problem] = /^<input>:(\d+):(\d+): (.*)$/s.exec(message) ?? [];
    const place = line === "1" ? `column ${column}` : `line ${line}, column ${column}`;
    throw new ConditionError(problem === undefined ? `is no CEL: ${message}` : `at ${place}: ${problem}`);
  }
}

/** The parser goes one level deeper with each. Those in texts count, too. */
function requireFewBrackets(expression: string): void {
  const count = expression.match(/[([{]/g)?.length ?? 0;
  if (count > maxBrackets) throw new ConditionError(`has more than ${maxBrackets} brackets`);
}
