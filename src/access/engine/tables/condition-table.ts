import { type StoredPart, createRowsPart } from "./stored-part.ts";

/**
 * Compiles an expression to a predicate. If the compilation throws, the condition does not hold. The predicate throws only to
 * end the request.
 */
export type CompileCondition = (expression: string) => (context: unknown) => unknown;

/** The conditions of bindings. A condition that several bindings share is stored and compiled once. */
export interface ConditionTable {
  /** Adds a use of the condition and returns its number, from 1 on. */
  readonly take: (expression: string) => number;
  readonly giveBack: (condition: number) => void;
  /** Returns an empty text for 0, which stands for no condition. */
  readonly textOf: (condition: number) => string;
  /** Reports whether the condition evaluates to exactly `true`. Throws what the predicate throws. */
  readonly holds: (condition: number, context: unknown) => boolean;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

interface Condition {
  readonly expression: string;
  uses: number;
  /** Compiled on first use. */
  test: ((context: unknown) => unknown) | undefined;
}

/** The approximate memory of a compiled expression, without its text. */
const bytesOfCompiled = 2000;

const never = (): boolean => false;

export function createConditionTable(compileCondition: CompileCondition): ConditionTable {
  const numbers = new Map<string, number>();
  const conditions: (Condition | undefined)[] = [undefined];
  const free: number[] = [];
  let bytes = 0;

  const bytesOf = ({ expression }: Condition): number => expression.length * 4 + bytesOfCompiled;

  function add(number: number, expression: string, uses: number): void {
    const condition = { expression, uses, test: undefined };
    conditions[number] = condition;
    numbers.set(expression, number);
    bytes += bytesOf(condition);
  }

  function compile(expression: string): (context: unknown) => unknown {
    try {
      return compileCondition(expression);
    } catch {
      return never;
    }
  }

  return {
    take(expression) {
      const known = numbers.get(expression);
      const shared = known === undefined ? undefined : conditions[known];
      if (known !== undefined && shared !== undefined) {
        shared.uses++;
        return known;
      }
      const number = free.pop() ?? conditions.length;
      add(number, expression, 1);
      return number;
    },

    giveBack(number) {
      const condition = conditions[number];
      if (condition === undefined || --condition.uses > 0) return;
      conditions[number] = undefined;
      numbers.delete(condition.expression);
      free.push(number);
      bytes -= bytesOf(condition);
    },

    textOf: (number) => conditions[number]?.expression ?? "",

    holds(number, context) {
      const condition = conditions[number];
      if (condition === undefined) return false;
      condition.test ??= compile(condition.expression);
      return condition.test(context) === true;
    },

    bytes: () => bytes,

    parts: () => [
      ...createRowsPart(
        "conditions",
        () => [...numbers].map(([expression, number]) => ({ number, expression, uses: conditions[number]?.uses ?? 0 })),
        ({ number, expression, uses }) => add(number, expression, uses),
      ),
      ...createRowsPart(
        "free conditions",
        () => free,
        (number) => {
          conditions[number] = undefined;
          free.push(number);
        },
      ),
    ],
  };
}
