// All failures here are real, because the errors that pg throws change with its versions.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import net from "node:net";
import { type Transaction, sql } from "kysely";
import pg from "pg";
import { describe, expect, inject, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { isDatabaseGone, isDatabaseUnavailable, isRetryable, violatedConstraint } from "../../src/database/failure.ts";
import type { Schema } from "../../src/database/schema.ts";
import { addOrg } from "./sample-rows.ts";
import { useSharedDatabase } from "./shared-database.ts";

const shared = useSharedDatabase();

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("the call went through");
}

/** Returns the classification of an error. */
const classify = (error: unknown) => ({
  unavailable: isDatabaseUnavailable(error),
  gone: isDatabaseGone(error),
  retryable: isRetryable(error),
  constraint: violatedConstraint(error),
});

/** It answers, but not what was asked. */
const unavailable = { unavailable: true, gone: false, retryable: false, constraint: undefined };
const gone = { ...unavailable, gone: true };
const permanent = { ...unavailable, unavailable: false };

/** Returns a port whose connections are passed to `onConnection`. Nothing listens on it if there is no handler. */
async function usePort(onConnection?: (socket: net.Socket) => void): Promise<{ port: number; close: () => void }> {
  const server = net.createServer(onConnection ?? (() => {})).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  if (onConnection === undefined) server.close();
  return { port, close: () => server.close() };
}

async function connectTo(config: pg.ClientConfig): Promise<unknown> {
  const client = new pg.Client({ user: "tenantry", database: "tenantry", ...config });
  client.on("error", () => {});
  const error = await failureOf(client.connect());
  await client.end().catch(() => {});
  return error;
}

/** Runs a failing statement in a transaction and returns its error. */
const failIn = (database: Database, run: (db: Transaction<Schema>) => Promise<unknown>): Promise<unknown> =>
  failureOf(database.writes.transaction().execute(run));

describe("a database that cannot be reached is unavailable:", () => {
  test("connection refused", async () => {
    const { port } = await usePort();
    expect(classify(await connectTo({ host: "127.0.0.1", port }))).toEqual(gone);
  });

  test("connection refused on all addresses of its name", async () => {
    const { port } = await usePort();
    const socket = net.connect({
      host: "database.example",
      port,
      autoSelectFamily: true,
      lookup: (_host, _options, done) =>
        done(null, [
          { address: "127.0.0.1", family: 4 },
          { address: "127.0.0.2", family: 4 },
        ]),
    });
    const [error] = (await once(socket, "error").catch((thrown: unknown) => [thrown])) as unknown[];
    expect(error).toBeInstanceOf(AggregateError);
    expect(classify(error)).toEqual(gone);
  });

  test("there is no socket", async () => {
    expect(classify(await connectTo({ host: "/nonexistent" }))).toEqual(gone);
  });

  test("the host name is unknown", async () => {
    expect(classify(await connectTo({ host: "database.invalid" }))).toEqual(gone);
  });

  test("it ends the connection while that is being encrypted", async () => {
    const agree = (socket: net.Socket): void => {
      socket.on("error", () => {});
      // What follows is what a client of TLS says first.
      socket.once("data", () => socket.write("S", () => socket.once("data", () => socket.end())));
    };
    const { port, close } = await usePort(agree);
    const error = await connectTo({ host: "127.0.0.1", port, ssl: { rejectUnauthorized: false } });
    close();
    expect(classify(error)).toEqual(gone);
  });

  test("it resets the connection", async () => {
    const { port, close } = await usePort((socket) => socket.once("data", () => socket.resetAndDestroy()));
    expect(classify(await connectTo({ host: "127.0.0.1", port }))).toEqual(gone);
    close();
  });

  test("it closes the connection", async () => {
    const { port, close } = await usePort((socket) => socket.once("data", () => socket.end()));
    expect(classify(await connectTo({ host: "127.0.0.1", port }))).toEqual(gone);
    close();
  });

  test("it never responds", async () => {
    const sockets: net.Socket[] = [];
    const { port, close } = await usePort((socket) => sockets.push(socket));
    expect(classify(await connectTo({ host: "127.0.0.1", port, connectionTimeoutMillis: 50 }))).toEqual(gone);
    for (const socket of sockets) socket.destroy();
    close();
  });

  test("all its connections are in use", async () => {
    const pool = new pg.Pool({ connectionString: inject("serverUrl"), max: 1 });
    const client = await pool.connect();
    // The first connection has all the time that it needs on a busy machine.
    pool.options.connectionTimeoutMillis = 50;
    expect(classify(await failureOf(pool.query("select 1")))).toEqual(unavailable);
    client.release();
    await pool.end();
  });

  test("a connection of the service's own pool is refused", async () => {
    const { port } = await usePort();
    const database = openDatabase({
      connection: { host: "127.0.0.1", port, user: "tenantry", database: "tenantry" },
      maxReadConnections: 1,
      maxWriteConnections: 1,
      onConnectionError: () => {},
    });
    expect(classify(await failureOf(database.readPrepared("nobody", "select 1", [])))).toEqual(gone);
    expect(classify(await failIn(database, (db) => sql`select 1`.execute(db)))).toEqual(gone);
    await database.close();
  });
});

describe("a database that aborts a statement is unavailable:", () => {
  test("its backend is terminated", async () => {
    const database = shared();
    const error = await failIn(database, async (db) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
      const statement = sql`select pg_sleep(10)`.execute(db);
      await Promise.all([statement, sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.reads)]);
    });
    expect(classify(error)).toEqual(gone);
    // The pool opens a new connection.
    await expect(sql`select 1`.execute(database.writes)).resolves.toBeDefined();
  });

  test("its backend was terminated between two statements", async () => {
    const database = shared();
    const error = await failIn(database, async (db) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
      // Waits until it has ended.
      await sql`select pg_terminate_backend(${rows[0]?.pid}, 60000)`.execute(database.reads);
      await sql`select 1`.execute(db);
    });
    expect(classify(error)).toEqual(gone);
  });

  test("statement timeout", async () => {
    const database = shared();
    const error = await failIn(database, async (db) => {
      await sql`set local statement_timeout = '20ms'`.execute(db);
      await sql`select pg_sleep(10)`.execute(db);
    });
    expect(classify(error)).toEqual(unavailable);
  });

  test("lock timeout", async () => {
    const database = shared();
    const org = await addOrg(database, "locked");
    const error = await database.writes.transaction().execute(async (holder) => {
      await sql`select from orgs where id = ${org.id} for update`.execute(holder);
      return failIn(database, async (db) => {
        await sql`set local lock_timeout = '20ms'`.execute(db);
        await sql`select from orgs where id = ${org.id} for update`.execute(db);
      });
    });
    expect(classify(error)).toEqual(unavailable);
  });

  test("idle transaction timeout", async () => {
    const database = shared();
    const error = await failIn(database, async (db) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
      const sessions = sql`select from pg_stat_activity where pid = ${rows[0]?.pid}`;
      await sql`set local idle_in_transaction_session_timeout = '20ms'`.execute(db);
      await expect.poll(async () => (await sessions.execute(database.reads)).rows).toEqual([]);
      await sql`select 1`.execute(db);
    });
    expect(classify(error)).toMatchObject({ unavailable: true, retryable: false });
  });
});

describe("a transaction that conflicts with another one is retryable:", () => {
  test("a deadlock", async () => {
    const database = shared();
    const [one, other] = [await addOrg(database, "one"), await addOrg(database, "other")];
    const bothTouched = Promise.withResolvers<void>();
    let touched = 0;
    const touchBoth = (first: string, second: string) =>
      database.writes.transaction().execute(async (db) => {
        await sql`set local deadlock_timeout = '50ms'`.execute(db);
        await sql`update orgs set description = 'x' where id = ${first}`.execute(db);
        if (++touched === 2) bothTouched.resolve();
        await bothTouched.promise;
        await sql`update orgs set description = 'x' where id = ${second}`.execute(db);
      });
    const outcomes = await Promise.allSettled([touchBoth(one.id, other.id), touchBoth(other.id, one.id)]);
    const errors = outcomes.flatMap((outcome): unknown[] => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(errors.map(classify)).toEqual([{ ...unavailable, retryable: true }]);
  });

  test("a serialization failure", async () => {
    const database = shared();
    const org = await addOrg(database, "changed");
    const change = (db: Transaction<Schema>) => sql`update orgs set description = 'x' where id = ${org.id}`.execute(db);
    const error = await failureOf(
      database.writes
        .transaction()
        .setIsolationLevel("repeatable read")
        .execute(async (db) => {
          await sql`select from orgs`.execute(db);
          await database.writes.transaction().execute(change);
          await change(db);
        }),
    );
    expect(classify(error)).toEqual({ ...unavailable, retryable: true });
  });
});

describe("an error in a statement is not a failure of the database:", () => {
  test("a duplicate name violates its index", async () => {
    const database = shared();
    await addOrg(database, "acme");
    const error = await failureOf(addOrg(database, "acme"));
    expect(classify(error)).toEqual({ ...permanent, constraint: "customers_name_key" });
  });

  test("a dangling reference violates its foreign key", async () => {
    const database = shared();
    const id = "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";
    const error = await failIn(database, (db) =>
      sql`
        insert into groups (customer_id, org_id, id, name, display_name, description, labels, changed_revision)
        values (${id}, ${id}, ${id}, 'a', 'a', '', '{}', gen_random_uuid())`.execute(db),
    );
    expect(classify(error)).toEqual({ ...permanent, constraint: "groups_customer_id_org_id_fkey" });
  });

  test("a syntax error", async () => {
    const database = shared();
    expect(classify(await failureOf(sql`select from nowhere`.execute(database.reads)))).toEqual(permanent);
  });

  test("a value of the wrong type", async () => {
    const database = shared();
    expect(classify(await failureOf(sql`select ${"x"}::uuid`.execute(database.reads)))).toEqual(permanent);
  });
});

describe("an error that does not come from the database is not its failure:", () => {
  test("a missing file", async () => {
    expect(classify(await failureOf(readFile("/nonexistent")))).toEqual(permanent);
  });

  test.each([new Error("bug"), new TypeError("x is not a function"), "Connection terminated", undefined, null, 7])(
    "%s",
    (thrown) => {
      expect(classify(thrown)).toEqual(permanent);
    },
  );
});
