// Most of the time of a short statement is the way to the server and back. So a transaction can send a statement together with the next
// one, which may be its COMMIT.
import type { CompiledQuery, DatabaseConnection, Kysely, Transaction } from "kysely";
import type { Schema } from "./schema.ts";

/** A connection that can hold a statement until the next one is sent. */
export interface HoldingConnection extends DatabaseConnection {
  readonly hold: (statement: CompiledQuery, rows: PromiseWithResolvers<object[]>) => void;
}

export interface WriteTransaction extends Transaction<Schema> {
  /**
   * Sends a statement together with the next one, or with the end of the transaction. If it fails, so does the next one, with its error.
   *
   * @returns the rows, once the next statement has run: to await them before that would wait for ever. Nobody needs to await them, also
   *   if the statement fails. Rejects when the transaction is rolled back before.
   */
  readonly sendWithNext: <Row>(statement: CompiledQuery<Row>) => Promise<readonly Row[]>;
}

/** Runs a transaction, and commits it. If `run` rejects, it is rolled back. */
export function transact<Result>(
  writes: Kysely<Schema>,
  run: (db: WriteTransaction) => Promise<Result>,
): Promise<Result> {
  return writes.transaction().execute(async (db) => {
    const { hold } = await db.getExecutor().provideConnection(async (own) => own as HoldingConnection);
    const sendWithNext = (statement: CompiledQuery): Promise<never> => {
      const rows = Promise.withResolvers<object[]>();
      rows.promise.catch(() => {});
      hold(statement, rows);
      return rows.promise as Promise<never>;
    };
    return run(Object.assign(db, { sendWithNext }));
  });
}
