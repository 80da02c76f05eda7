// To put a statement together takes longer than to send it. Those that return all the time are put together once, for any values.
import type { CompiledQuery, Kysely } from "kysely";
import type { Schema } from "./schema.ts";

/** Returns a statement with these values. @throws Error when a value is an expression, which would be another statement. */
export type StatementTemplate<Row> = (db: Kysely<Schema>, values: readonly unknown[]) => CompiledQuery<Row>;

/** Stands for one of the values. */
class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Creates a statement that is compiled when it is first used.
 *
 * @param count the number of its values.
 * @param build returns the statement, with what stands for the values.
 */
export function createStatementTemplate<Row>(
  count: number,
  build: (db: Kysely<Schema>, placeholders: readonly unknown[]) => CompiledQuery<Row>,
): StatementTemplate<Row> {
  const placeholders = Array.from({ length: count }, (_, index) => new Placeholder(index));
  let compiled: CompiledQuery<Row> | undefined;
  return (db, values) => {
    compiled ??= build(db, placeholders);
    const filled = compiled.parameters.map((parameter) => {
      const value = parameter instanceof Placeholder ? values[parameter.index] : parameter;
      if (typeof value !== "object" || value === null || !("toOperationNode" in value)) return value;
      throw new Error("a value of a statement is an expression");
    });
    return { ...compiled, parameters: filled };
  };
}
