import { type StoredPart, createRowsPart } from "./stored-part.ts";

/**
 * Compiles an expression to a predicate. If the compilation throws, the condition does not hold. The predicate throws only to
 * end the request.
 */
export type CompileCondition = (expression: string) => CompiledCondition;

export interface CompiledCondition {
  (context: unknown): unknown;
  /** Whether it does not read the subject, so that it has one result for all subjects. */
  readonly isForAll?: boolean;
}

/** The conditions of bindings. A condition that several bindings share is stored and compiled once. */
export interface ConditionTable {
  /** Adds a use of the condition and returns its number, from 1 on. */
  readonly take: (expression: string) => number;
  /** Does nothing for 0. */
  readonly giveBack: (condition: number) => void;
  /** Returns an empty text for 0, which stands for no condition. */
  readonly textOf: (condition: number) => string;
  /** Reports whether the condition evaluates to exactly `true`. Throws what the predicate throws. */
  readonly holds: (condition: number, context: unknown) => boolean;
  /** Reports whether the condition is compiled, which takes as long as to evaluate it a hundred times. */
  readonly isCompiled: (condition: number) => boolean;
  /** Reports whether the condition is known not to read the subject. */
  readonly isForAll: (condition: number) => boolean;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

interface Condition {
  readonly expression: string;
  uses: number;
  /** Compiled on first use. */
  test: CompiledCondition | undefined;
}

/** The approximate memory of a compiled expression, without its text. */
const bytesOfCompiled = 2000;

const never: CompiledCondition = Object.assign(() => false, { isForAll: true });

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
      return condition !== undefined && testOf(condition, compileCondition)(context) === true;
    },

    isCompiled: (number) => conditions[number]?.test !== undefined,

    isForAll(number) {
      const condition = conditions[number];
      return condition === undefined || testOf(condition, compileCondition).isForAll === true;
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

function testOf(condition: Condition, compileCondition: CompileCondition): CompiledCondition {
  if (condition.test !== undefined) return condition.test;
  try {
    condition.test = compileCondition(condition.expression);
  } catch {
    condition.test = never;
  }
  return condition.test;
}
