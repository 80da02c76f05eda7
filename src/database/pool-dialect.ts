// How Kysely uses a pool of connections.
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type pg from "pg";
import type { HoldingConnection, Later } from "./write-transaction.ts";

/** A statement. A connection that is given a name prepares it; a name must always have the same text. */
export interface Statement {
  readonly name?: string | undefined;
  /** What it looks up, if it is a lookup: `find_api_keys`. */
  readonly lookup?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
}

interface PoolForKysely {
  readonly connect: () => Promise<pg.PoolClient>;
  /** Sends statements together, and returns their results. Rejects with the error of the first that fails. */
  readonly send: (
    client: pg.PoolClient,
    statements: readonly Statement[],
  ) => Promise<readonly pg.QueryResult<object>[]>;
  readonly nameOf: (text: string) => string | undefined;
  /** Statements that follow BEGIN in its text. */
  readonly settings: string;
}

/** A statement that is sent with the next one. */
interface HeldStatement extends Statement {
  /** What its rows are, once it has run. */
  rows: Later<object[]>;
}

interface PooledConnection extends HoldingConnection {
  begin(settings: TransactionSettings): void;
  /** @throws AbortedTransactionError when PostgreSQL has rolled the transaction back, because a statement had failed. */
  commit(): Promise<void>;
  /** Never rejects: the end of the connection rolls back, too, and the caller is to hear why the transaction has failed. */
  rollback(): Promise<void>;
  release(): void;
}

/** Creates the dialect of a pool, whose connections can hold statements of transactions. */
export function createPoolDialect(pool: PoolForKysely): Dialect {
  const own = (connection: DatabaseConnection): PooledConnection => connection as PooledConnection;
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => ({
      init: nothing,
      acquireConnection: async () => createConnection(pool, await pool.connect()),
      beginTransaction: async (connection, settings) => own(connection).begin(settings),
      commitTransaction: (connection) => own(connection).commit(),
      rollbackTransaction: (connection) => own(connection).rollback(),
      releaseConnection: async (connection) => own(connection).release(),
      // The watch closes the pool.
      destroy: nothing,
    }),
  };
}

function createConnection({ send, nameOf, settings }: PoolForKysely, client: pg.PoolClient): PooledConnection {
  let held: HeldStatement[] = [];
  /** Whether anything of the transaction was sent. Its beginning is the first statement that is held. */
  let isBegun = false;
  let isUsable = true;
  let isRolledBackAtEnd = false;

  const toStatement = ({ sql: text, parameters: values }: CompiledQuery): Statement => {
    return { name: values.length === 0 ? undefined : nameOf(text), text, values };
  };

  /** Sends statements with those that are held, and returns the result of the last. */
  const run = async (...statements: readonly Statement[]): Promise<pg.QueryResult<object> | undefined> => {
    const before = held;
    const all = [...before, ...statements];
    const sending = isBegun ? send(client, all) : sendFirst(send, client, all);
    [held, isBegun] = [[], true];
    try {
      const results = await sending;
      for (const [index, statement] of before.entries()) statement.rows = () => results[index]?.rows ?? [];
      return results.at(-1);
    } catch (error) {
      for (const statement of before) statement.rows = () => raise(error);
      throw error;
    }
  };

  return {
    async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
      const result = await run(toStatement(query));
      const rows = (result?.rows ?? []) as Row[];
      return typeof result?.rowCount === "number" ? { rows, numAffectedRows: BigInt(result.rowCount) } : { rows };
    },
    streamQuery: () => {
      throw new Error("rows are not streamed");
    },
    hold(statement) {
      const one: HeldStatement = { ...toStatement(statement), rows: () => raise(new Error(tooEarly)) };
      held.push(one);
      return () => one.rows();
    },
    async sendHeld() {
      if (held.length > 0) await run();
    },
    rollBackAtEnd: () => void (isRolledBackAtEnd = true),
    begin(modes) {
      // In one message, so that the settings cost no time of their own.
      held = [{ text: beginningWith(modes) + settings, values: [], rows: () => [] }];
      [isBegun, isRolledBackAtEnd] = [false, false];
    },
    async commit() {
      if (!isBegun && held.length === 1) return;
      if (isRolledBackAtEnd) return void (await run({ text: "rollback", values: [] }));
      const result = await run({ text: "commit", values: [] });
      if (result?.command === "ROLLBACK") throw new AbortedTransactionError();
    },
    async rollback() {
      for (const statement of held) statement.rows = () => raise(new Error("the transaction was rolled back"));
      held = [];
      if (!isBegun) return;
      try {
        await run({ text: "rollback", values: [] });
      } catch {
        isUsable = false;
      }
    },
    release: () => client.release(!isUsable),
  };
}

function beginningWith({ isolationLevel, accessMode }: TransactionSettings): string {
  const level = isolationLevel === undefined ? "" : ` isolation level ${isolationLevel}`;
  return `begin${level}${accessMode === undefined ? "" : ` ${accessMode}`}`;
}

const tooEarly = "the rows of a statement that is sent with the next one were read before that one has run";

function raise(error: unknown): never {
  throw error;
}

/** Sends the first statements of a transaction together, or its beginning alone if another one may write. */
async function sendFirst(
  send: PoolForKysely["send"],
  client: pg.PoolClient,
  all: readonly Statement[],
): Promise<readonly pg.QueryResult<object>[]> {
  const [beginning, others] = [all.slice(0, 1), all.slice(1)];
  if (!others.some(mayWrite)) return send(client, all);
  return [...(await send(client, beginning)), ...(await send(client, others))];
}

/**
 * Whether a statement may write, to be on the safe side. Statements that are sent together have their own ends: if the first one does not
 * begin the transaction, because somebody has cancelled it, each of the others is one of its own, and commits what it writes.
 */
function mayWrite({ text }: Statement): boolean {
  return (
    !/^\s*(?:begin|commit|rollback|select|with)\b/i.test(text) ||
    /\b(?:insert\s+into|delete\s+from|update\s+\S+\s+set)\b/i.test(text)
  );
}
