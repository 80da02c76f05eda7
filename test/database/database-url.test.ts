import { once } from "node:events";
import net from "node:net";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { parseDatabaseUrl } from "../../src/database/database-url.ts";
import { addressOf, onFirstPrimary } from "../../src/database/primary-client.ts";
import { createTestDatabase } from "../support/test-database.ts";

const verified = { rejectUnauthorized: true, files: {} };

describe("a database URL", () => {
  test.for<[string, object]>([
    ["postgres://", { hosts: [{ host: "localhost", port: 5432 }], user: undefined, database: undefined, ssl: false }],
    ["postgresql://me@localhost/iam", { hosts: [{ host: "localhost", port: 5432 }], user: "me", database: "iam" }],
    ["POSTGRES://me:a%40b%3A%2Fc:d@127.0.0.1:6000/i%20am", { user: "me", password: "a@b:/c:d", database: "i am" }],
    ["postgres://u@localhost/d?host=/tmp", { hosts: [{ host: "/tmp", port: 5432 }] }],
    ["postgres://%2Fvar%2Frun/d?port=6000", { hosts: [{ host: "/var/run", port: 6000 }] }],
    ["postgres://[::1]:6000/d", { hosts: [{ host: "::1", port: 6000 }] }],
    ["postgres:///d?user=me&password=p&host=::1", { hosts: [{ host: "::1", port: 5432 }], user: "me", password: "p" }],
    ["postgres://db/iam?sslmode=disable", { hosts: [{ host: "db", port: 5432 }], ssl: false }],
    ["postgres://db/iam?sslmode=verify-full", { ssl: verified }],
    ["postgres://db/iam?sslmode=require", { ssl: verified }],
    ["postgres://db/iam?sslmode=verify-ca&sslrootcert=/ca", { ssl: { ...verified, files: { ca: "/ca" } } }],
    ["postgres://db/iam?sslrootcert=system", { ssl: verified }],
    ["postgres://localhost/iam", { connectMs: 5_000 }],
    ["postgres://localhost/iam?connect_timeout=60", { connectMs: 60_000 }],
    ["postgres://db/iam?sslmode=no-verify", { ssl: { rejectUnauthorized: false, files: {} } }],
    [
      "postgres://a:1,b,[::1]:3/iam?sslmode=disable&port=2",
      {
        hosts: [
          ["a", 1],
          ["b", 2],
          ["::1", 3],
        ].map(([host, port]) => ({ host, port })),
      },
    ],
    [
      "postgres:///iam?host=a,b&port=1,2&sslmode=disable&target_session_attrs=read-write",
      {
        hosts: [
          ["a", 1],
          ["b", 2],
        ].map(([host, port]) => ({ host, port })),
      },
    ],
  ])("%s is read", ([url, expected]) => {
    expect(parseDatabaseUrl(url)).toMatchObject(expected);
  });

  test.for<[string, string]>([
    ["mysql://localhost/hunter2", "must be a URL of the form"],
    ["postgres://hunter2@@x/", "must be a URL of the form"],
    ["postgres://me:hunter2@localhost:x/iam", "must be a URL of the form"],
    ["postgres://localhost:99999/iam", "has a port that is not a number from 1 to 65535"],
    ["postgres://me:hunter2%zz@localhost/iam", "has a % that is not followed by two hexadecimal digits"],
    ["postgres://me:hunter2@db/iam", "leads to another machine and has no sslmode: add sslmode=verify-full"],
    ["postgres://localhost,db/iam", "leads to another machine and has no sslmode"],
    ["postgres://db/iam?sslmode=verify_full", "has an sslmode that is not one of disable, no-verify, require"],
    ["postgres://db/iam?sslmode=prefer", "one that may send everything in plain text is not accepted"],
    ["postgres://db/iam?ssl_mode=disable", 'has the parameter "ssl_mode", which is not known; those are host, port'],
    [
      "postgres://localhost/iam?options=-c%20lock_timeout%3D0",
      "has the parameter options, which would replace the limits",
    ],
    [
      "postgres://localhost/iam?connect_timeout=0",
      "has a connect_timeout that is not a number of seconds from 1 to 60",
    ],
    ["postgres://localhost/iam?connect_timeout=61", "has a connect_timeout that is not a number of seconds"],
    ["postgres://localhost/iam?connect_timeout=5s", "has a connect_timeout that is not a number of seconds"],
    ["postgres://localhost/iam?user=a&user=b", "has the parameter user twice"],
    ["postgres:///iam?host=/a,/b,/c&port=1,2", "has another number of ports than of hosts"],
    ["postgres://localhost/iam?target_session_attrs=standby", "Tenantry needs the primary"],
    ["postgres://db/iam?host=other&sslmode=disable", "names hosts both before the path and in the parameter host"],
  ])("%s is refused, without its password", ([url, message]) => {
    expect(() => parseDatabaseUrl(url)).toThrow(message);
    expect(() => parseDatabaseUrl(url)).not.toThrow("hunter2");
  });

  test("a file that cannot be read is named with its parameter", () => {
    const url = "postgres://db/iam?sslrootcert=/no/such/file";
    expect(() => addressOf({ connectionString: url })).toThrow(/in sslrootcert, \/no\/such\/file, cannot be read/);
  });
});

test("a connection is waited for as long as connect_timeout says", async () => {
  const silent = net.createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as net.AddressInfo;
  const connect = async (seconds: number) => {
    const connectionString = `postgres://me@127.0.0.1:${port}/iam?connect_timeout=${seconds}`;
    const unused = { maxReadConnections: 1, maxWriteConnections: 1, onConnectionError: () => {} };
    const database = openDatabase({ connection: { connectionString }, ...unused });
    onTestFinished(() => database.close());
    await expect(database.requireWritable(30_000)).rejects.toThrow(/connection timeout/);
    return seconds;
  };
  expect(await Promise.race([connect(2), connect(1)])).toBe(1);
});

test("hosts are tried until one answers, and no more often than there are", async () => {
  const tried: number[] = [];
  const open = (fails: number) => async () => {
    tried.push(tried.length);
    if (tried.length <= fails) throw new Error(`host ${tried.length} is away`);
    return "open";
  };
  await expect(onFirstPrimary(3, open(2))).resolves.toBe("open");
  tried.length = 0;
  await expect(onFirstPrimary(3, open(9))).rejects.toThrow("host 3 is away");
  expect(tried).toHaveLength(3);
});

test("connections are opened again after one of them took no writes", async () => {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  const database = openDatabase({
    connection: { connectionString: url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  onTestFinished(() => database.close());
  const name = new URL(url).pathname.slice(1);
  const administer = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: inject("serverUrl") });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  const write = () => database.writes.transaction().execute((db) => sql`delete from sweeps`.execute(db));
  // As a former primary whose sessions stay open, which managed services have.
  await administer(`alter database ${name} set default_transaction_read_only = on`);
  await expect(write()).rejects.toMatchObject({ code: "25006" });
  await administer(`alter database ${name} reset default_transaction_read_only`);
  await expect(write()).resolves.toBeDefined();
});
