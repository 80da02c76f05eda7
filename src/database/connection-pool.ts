import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";
import type { ConnectionWatch } from "./connection-watch.ts";
import { isStalePlan } from "./failure.ts";
import type { StatementNames } from "./prepared-statements.ts";

/** A statement. A connection that is given a name prepares it; a name must always have the same text. */
interface Statement {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface ConnectionPool {
  readonly forKysely: PostgresPool;
  /**
   * Runs one statement and returns its rows.
   *
   * @throws Error `Connection terminated ...` when there is no answer within the deadline. Its connection is discarded.
   */
  run(statement: Statement, deadlineMs: number): Promise<unknown[]>;
}

export interface ConnectionPoolOptions {
  readonly pool: pg.Pool;
  readonly watch: ConnectionWatch;
  /** For each statement that Kysely runs. */
  readonly deadlineMs: number;
  /** Names the statements that Kysely runs; undefined if they are not to be prepared. */
  readonly names: StatementNames | undefined;
  /** The server's settings in each transaction that Kysely begins. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** What Kysely sends. */
const beginsTransaction = /^(begin|start transaction)\b/;

/** Creates a pool whose statements have deadlines. */
export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { pool, watch, deadlineMs, names } = options;
  const settings = Object.entries(options.settings ?? {}).map(([name, value]) => `; set local ${name} = '${value}'`);
  const adapters = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  watch.add(pool);

  const runOn = (client: pg.PoolClient, { name, text, values }: Statement, withinMs: number) =>
    watch.run(client, withinMs, async () => {
      try {
        return await client.query<object>({ ...(name !== undefined && { name }), text, values: [...values] });
      } catch (error) {
        if (isStalePlan(error)) names?.end();
        throw error;
      }
    });

  const adapt = (client: pg.PoolClient): PostgresPoolClient => {
    const query = (text: string, values: readonly unknown[]): Promise<unknown> => {
      // In one message, so that the settings cost no time of their own.
      if (beginsTransaction.test(text)) return runOn(client, { text: text + settings.join(""), values }, deadlineMs);
      const name = values.length === 0 ? undefined : names?.nameOf(text);
      return runOn(client, { name, text, values }, deadlineMs);
    };
    // The other form of `query` takes cursors, which are not used.
    return { query: query as PostgresPoolClient["query"], release: (destroy) => client.release(destroy) };
  };

  return {
    forKysely: {
      options: pool.options,
      async connect() {
        const client = await pool.connect();
        // Kysely recognises a connection that it has used by the identity of its client.
        const adapter = adapters.get(client) ?? adapt(client);
        adapters.set(client, adapter);
        return adapter;
      },
      // The watch closes the pool.
      end: () => Promise.resolve(),
    },

    async run(statement, withinMs) {
      const client = await pool.connect();
      let isUsable = false;
      try {
        const { rows } = await runOn(client, statement, withinMs);
        isUsable = true;
        return rows;
      } catch (error) {
        isUsable = error instanceof pg.DatabaseError;
        throw error;
      } finally {
        client.release(!isUsable);
      }
    },
  };
}
