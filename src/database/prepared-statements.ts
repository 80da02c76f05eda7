// Prepares the statements of transactions: most of a short statement's time is its planning, and the same few hundred texts
// return all the time.
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { isStalePlan } from "./failure.ts";

/** Each connection keeps the plan of each name, some 50 kB, so there are not many. */
const maxNames = 400;
/** Longer statements come from batches; their texts differ with the number of items. */
const maxLength = 4096;
const maxSeenOnce = 1000;

/** Names statements that return. A connection that is given a name keeps the statement, and need not parse and plan it again. */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #seenOnce = new Set<string>();
  #count = 0;

  /** Returns the name of a statement from its second time on; undefined for one that has none. A name has one text for good. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (text.length > maxLength || this.#names.size >= maxNames) return undefined;
    if (this.#seenOnce.delete(text)) return this.#add(text);
    if (this.#seenOnce.size >= maxSeenOnce) this.#seenOnce.clear();
    this.#seenOnce.add(text);
    return undefined;
  }

  /** Ends all names, because the database was migrated and connections keep plans that are out of date. */
  end(): void {
    this.#names.clear();
  }

  #add(text: string): string {
    this.#count += 1;
    const name = `statement_${this.#count}`;
    this.#names.set(text, name);
    return name;
  }
}

/** Returns a pool, for Kysely, whose connections prepare statements that return. */
export function preparingPool(pool: pg.Pool): PostgresPool {
  const names = new StatementNames();
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect();
      const known = clients.get(client) ?? preparingClient(client, names);
      clients.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

/** Kysely recognises a connection that it has used by the identity of its client. */
function preparingClient(client: pg.PoolClient, names: StatementNames): PostgresPoolClient {
  const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    const name = values.length === 0 ? undefined : names.nameOf(text);
    try {
      return await client.query({ ...(name !== undefined && { name }), text, values: [...values] });
    } catch (error) {
      if (isStalePlan(error)) names.end();
      throw error;
    }
  };
  // The other form of `query` takes cursors, which are not used.
  return { query: query as PostgresPoolClient["query"], release: (destroy) => client.release(destroy) };
}
