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
import type { Statement, StatementResult } from "./statement-query.ts";
import type { HeldKind, HoldingConnection, Later } from "./write-transaction.ts";

interface PoolForKysely {
  readonly connect: () => Promise<pg.PoolClient>;
  /** Sends statements together, and returns their results. Rejects with the error of the first that fails. */
  readonly send: (client: pg.PoolClient, statements: readonly Statement[]) => Promise<readonly StatementResult[]>;
  readonly nameOf: (text: string) => string | undefined;
  /** Statements that follow BEGIN in its text. */
  readonly settings: string;
}

/** A statement that is sent with the next one. */
interface HeldStatement extends Statement {
  readonly kind: HeldKind;
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

function createConnection(pool: PoolForKysely, client: pg.PoolClient): PooledConnection {
  const sender = createSender(pool, client);
  let isUsable = true;
  let isRolledBackAtEnd = false;
  return {
    async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
      const result = await sender.send(sender.toStatement(query), isSelect(query) ? "reads" : "may write");
      const rows = (result?.rows ?? []) as Row[];
      return typeof result?.rowCount === "number" ? { rows, numAffectedRows: BigInt(result.rowCount) } : { rows };
    },
    streamQuery: () => {
      throw new Error("rows are not streamed");
    },
    hold: (statement, kind) => sender.hold(sender.toStatement(statement), kind),
    async sendHeld() {
      if (sender.holdsAny()) await sender.send(undefined, "reads");
    },
    rollBackAtEnd: () => void (isRolledBackAtEnd = true),
    begin(modes) {
      isRolledBackAtEnd = false;
      // In one message, so that the settings cost no time of their own.
      sender.begin({ text: beginningWith(modes) + pool.settings, values: [] });
    },
    async commit() {
      if (sender.hasSentNothing() && !sender.holdsAny()) return;
      if (isRolledBackAtEnd) return void (await sender.send({ text: "rollback", values: [] }, "reads"));
      const result = await sender.send({ text: "commit", values: [] }, "reads");
      if (result?.command === "ROLLBACK") throw new AbortedTransactionError();
    },
    async rollback() {
      sender.drop(new Error("the transaction was rolled back"));
      if (sender.hasSentNothing()) return;
      try {
        await sender.send({ text: "rollback", values: [] }, "reads");
      } catch {
        isUsable = false;
      }
    },
    release: () => client.release(!isUsable),
  };
}

/** Sends the statements of a transaction, and before them those that it holds. */
interface Sender {
  readonly toStatement: (query: CompiledQuery) => Statement;
  /** Begins a transaction, with the first statement that is sent. */
  readonly begin: (beginning: Statement) => void;
  readonly hold: (statement: Statement, kind: HeldKind) => Later<object[]>;
  /** Whether it holds statements besides the beginning. */
  readonly holdsAny: () => boolean;
  readonly hasSentNothing: () => boolean;
  /** Drops what it holds, whose rows are read in vain then. */
  readonly drop: (reason: Error) => void;
  /** Returns the result of the last one. */
  readonly send: (last: Statement | undefined, kind: HeldKind) => Promise<StatementResult | undefined>;
}

function createSender({ send, nameOf }: PoolForKysely, client: pg.PoolClient): Sender {
  /** The beginning of the transaction, until it is sent. */
  let beginning: Statement | undefined;
  let held: HeldStatement[] = [];

  return {
    toStatement: ({ sql: text, parameters: values }) => {
      return { name: values.length === 0 ? undefined : nameOf(text), text, values };
    },
    begin: (first) => void ([beginning, held] = [first, []]),
    hold(statement, kind) {
      const one: HeldStatement = { ...statement, kind, rows: () => raise(new Error(tooEarly)) };
      held.push(one);
      return () => one.rows();
    },
    holdsAny: () => held.length > 0,
    hasSentNothing: () => beginning !== undefined,
    drop(reason) {
      for (const statement of held) statement.rows = () => raise(reason);
      held = [];
    },
    async send(last, kind) {
      const [first, before] = [beginning, held];
      [beginning, held] = [undefined, []];
      const all = last === undefined ? before : [...before, last];
      // Statements that are sent together have their own ends: if the first one does not begin the transaction, because somebody has
      // cancelled it, each of the others is one of its own, and commits what it writes.
      const isTogether = kind === "reads" && before.every((statement) => statement.kind === "reads");
      try {
        if (first !== undefined && !isTogether) await send(client, [first]);
        const results = await send(client, first !== undefined && isTogether ? [first, ...all] : all);
        const own = results.slice(results.length - all.length);
        for (const [index, statement] of before.entries()) statement.rows = () => own[index]?.rows ?? [];
        return results.at(-1);
      } catch (error) {
        for (const statement of before) statement.rows = () => raise(error);
        throw error;
      }
    },
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

/** Whether a statement was built as a select. One that has a WITH clause may write in it. */
function isSelect({ query }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" && query.with === undefined;
}
