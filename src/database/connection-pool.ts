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
}

/** Creates a pool whose statements have deadlines. */
export function createConnectionPool({ pool, watch, deadlineMs, names }: ConnectionPoolOptions): ConnectionPool {
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
