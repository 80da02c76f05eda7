import { setTimeout as delay } from "node:timers/promises";

import { Client } from "pg";

import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/**
 * The key of the session lock that the owner of the server holds. The lock is held on a separate connection, so it is released
 * when the owner's process ends. That connection is not to the service's database, because a database with connections cannot
 * be copied as a template.
 */
const key = 0x74656e61_6e747279n; // "tenantry" in ASCII

export interface ServerAddress {
  /** The directory of the socket. */
  readonly host: string;
  readonly port: number;
}

export interface OwnerLock {
  readonly client: Client;
  /** Resolves when the connection has ended, and with it the lock. */
  readonly lost: Promise<void>;
}

/**
 * Takes the owner lock of the server at `address`. Waits up to three seconds, because the server may not yet have noticed that
 * the last holder died.
 *
 * @throws EmbeddedPostgresError IN_USE that names the holder.
 */
export async function takeOwnerLock(address: ServerAddress, cluster: string): Promise<OwnerLock> {
  const client = new Client({
    ...address,
    user: "tenantry",
    database: "postgres",
    ssl: false,
    application_name: `tenantry ${process.pid}`,
    connectionTimeoutMillis: 5_000,
  });
  const lost = new Promise<void>((resolve) => client.once("end", resolve));
  // The "end" event follows. Without a listener, an error event would end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    const giveUpAt = Date.now() + 3_000;
    while (!(await tryLock(client))) {
      if (Date.now() > giveUpAt) throw inUse(cluster, await nameHolder(client));
      await delay(100);
    }
    return { client, lost };
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
}

export function inUse(cluster: string, who: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "IN_USE",
    `The database in ${cluster} is in use by ${who}. Stop that first, use another directory, or let both use one ` +
      `PostgreSQL server through DATABASE_URL.`,
  );
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_lock($1) as locked", [key]);
  return rows[0]?.locked === true;
}

async function nameHolder(client: Client): Promise<string> {
  const { rows } = await client.query<{ application_name: string }>(
    `select application_name from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and granted and objsubid = 1 and (classid::bigint << 32 | objid::bigint) = $1`,
    [key],
  );
  return `another process (${rows[0]?.application_name ?? "unknown"})`;
}
