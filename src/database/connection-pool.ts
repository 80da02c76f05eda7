import type { Dialect } from "kysely";
import pg from "pg";
import type { ConnectionWatch } from "./connection-watch.ts";
import { isDiskFull, isReadOnly, isStalePlan } from "./failure.ts";
import { createPoolDialect } from "./pool-dialect.ts";
import { type WatchedPool, takeConnection } from "./pool-activity.ts";
import type { StatementNames } from "./prepared-statements.ts";
import {
  type DescriptionsOf,
  type Statement,
  StatementQuery,
  type StatementResult,
  connectionOf,
} from "./statement-query.ts";
import { type StatementTimes, nameStatement } from "./statement-times.ts";
import { type ActiveSpan, activeSpan } from "../tracing/active-span.ts";

/** A statement that is known before its transaction begins. */
export interface KnownStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Whether connections keep the statement, with its plan. There must be few such texts. */
  readonly isKept: boolean;
}

export interface ConnectionPool {
  readonly dialect: Dialect;
  /**
   * Runs one statement and returns its rows.
   *
   * @throws Error `Connection terminated ...` when there is no answer within the deadline. Its connection is discarded.
   */
  run(statement: Statement, deadlineMs: number): Promise<unknown[]>;
  /**
   * Runs statements in a transaction of their own, and returns the rows of each. Where connections are pipelined, the transaction is
   * one way to the server and back. With `oneSnapshot`, all see what was committed before the first.
   *
   * @param settings returns the server's settings in the transaction, when it begins.
   */
  runTogether(
    statements: readonly KnownStatement[],
    settings: () => Readonly<Record<string, string>>,
  ): Promise<unknown[][]>;
}

export interface ConnectionPoolOptions {
  readonly watched: WatchedPool;
  readonly watch: ConnectionWatch;
  readonly times: StatementTimes;
  /** For each statement that Kysely runs. */
  readonly deadlineMs: number;
  /** Names the statements that Kysely runs; undefined if they are not to be prepared. */
  readonly names: StatementNames | undefined;
  /** Undefined where a pooler may run each transaction on another connection of its own. */
  readonly descriptionsOf: DescriptionsOf | undefined;
  /** Whether statements that run together only read, from one snapshot. Otherwise each of them sees what was committed before it. */
  readonly oneSnapshot?: boolean;
  /** The server's settings in each transaction that Kysely begins. */
  readonly settings?: Readonly<Record<string, string>>;
}

export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { watched, watch, deadlineMs, names } = options;
  const { pipeline: sendsTogether = false } = watched.pool.options;
  watch.add(watched.pool);

  const send = async (client: pg.PoolClient, statement: Statement) => {
    try {
      return await submit(client, statement, options);
    } catch (error) {
      // The stack of what ran the statement, not of what read the answer.
      if (error instanceof Error) Error.captureStackTrace(error);
      endOutdated(error, options);
      throw error;
    }
  };

  /** Runs statements in order. Returns their results. Throws the error of the first that fails. */
  const runAll = async (client: pg.PoolClient, statements: readonly Statement[]): Promise<StatementResult[]> => {
    if (!sendsTogether) {
      const results: StatementResult[] = [];
      for (const statement of statements) results.push(await send(client, statement));
      return results;
    }
    const [only] = statements;
    if (only !== undefined && statements.length === 1) return [await send(client, only)];
    const sent = inOneWrite(client, () => statements.map((statement) => send(client, statement)));
    // All have an answer before the next one is sent.
    await Promise.allSettled(sent);
    return Promise.all(sent);
  };

  /** Runs a function with a connection, which is discarded if it fails other than with an error of the server. */
  const withClient = async <Result>(run: (client: pg.PoolClient) => Promise<Result>): Promise<Result> => {
    const client = await takeConnection(watched);
    let isUsable = false;
    try {
      const result = await run(client);
      isUsable = true;
      return result;
    } catch (error) {
      isUsable = error instanceof pg.DatabaseError;
      throw error;
    } finally {
      client.release(!isUsable);
    }
  };

  return {
    dialect: createPoolDialect({
      connect: () => takeConnection(watched),
      send: (client, statements) => watch.run(client, deadlineMs, () => runAll(client, statements)),
      nameOf: (text) => names?.nameOf(text),
      settings: setLocal(options.settings ?? {}),
    }),

    run(statement, withinMs) {
      return withClient(async (client) => (await watch.run(client, withinMs, () => send(client, statement))).rows);
    },

    runTogether(statements, settingsOf) {
      return withClient(async (client) => {
        const own = statements.map(({ text, values, isKept }): Statement => {
          return { name: isKept ? names?.nameOf(text) : undefined, text, values };
        });
        const all = [beginWith(settingsOf(), options), ...own, { text: "commit", values: [] }];
        const results = await watch.run(client, deadlineMs, async () => {
          try {
            return await runAll(client, all);
          } catch (error) {
            // The commit, which has been sent, ends a transaction that failed, too.
            if (!sendsTogether) await send(client, { text: "rollback", values: [] });
            throw error;
          }
        });
        return results.slice(1, -1).map(({ rows }) => rows);
      });
    },
  };
}

/** Ends what an error says is out of date: the plans of prepared statements, or connections to a server that takes no writes. */
function endOutdated(error: unknown, { names, watched }: Pick<ConnectionPoolOptions, "names" | "watched">): void {
  if (isStalePlan(error)) names?.end();
  else if (isReadOnly(error)) watched.freshness.end();
}

/** Sends statements in one write to the socket. */
function inOneWrite<Result>(client: pg.PoolClient, send: () => Result): Result {
  const { stream } = connectionOf(client);
  stream.cork();
  const sent = send();
  stream.uncork();
  return sent;
}

function submit(
  client: pg.PoolClient,
  statement: Statement,
  { times, descriptionsOf }: Pick<ConnectionPoolOptions, "times" | "descriptionsOf">,
): Promise<StatementResult> {
  const startedAt = performance.now();
  const span = beginStatement(statement);
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null, result: StatementResult): void => {
      times.note(statement, performance.now() - startedAt);
      if (isDiskFull(error)) times.noteDiskFull();
      // The code alone: messages of the server may have values of the statement.
      if (span !== undefined) span.end(undefined, error === null ? undefined : codeOf(error));
      if (error === null) resolve(result);
      else reject(error);
    };
    client.query(new StatementQuery(client, statement, descriptionsOf, callback));
  });
}

/** Begins the span of a statement, which has its name and not its text; undefined if nothing is traced. */
function beginStatement({ lookup, text }: Statement): ActiveSpan | undefined {
  const call = activeSpan();
  if (call === undefined) return undefined;
  const name = lookup ?? nameStatement(text);
  return call.begin(name, "client", { "db.system.name": "postgresql", "db.query.summary": name });
}

/** `23505`, or `Error` if the server gave none. */
function codeOf(error: Error): string {
  return error instanceof pg.DatabaseError ? (error.code ?? error.name) : error.name;
}

function beginWith(
  settings: Readonly<Record<string, string>>,
  { oneSnapshot = false }: Pick<ConnectionPoolOptions, "oneSnapshot">,
): Statement {
  const begin = oneSnapshot ? "begin isolation level repeatable read read only" : "begin";
  return { text: begin + setLocal(settings), values: [] };
}

function setLocal(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `; set local ${name} = '${value}'`)
    .join("");
}
