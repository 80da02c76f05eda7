// Tests how the readings of orgs as they were share the server, and how they end.
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createPastSnapshots } from "../../src/access/snapshots/past-snapshots.ts";
import type { Schema } from "../../src/database/schema.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openSqlClient } from "../support/sql.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const compileCondition = () => {
  throw new Error("there are no conditions");
};

/** Opens snapshots whose statements wait as long as `gate` says for their values, on connections of their own. */
function open(gate: (values: readonly unknown[]) => Promise<void>, { maxReadMs }: { maxReadMs?: number } = {}) {
  const pool = new pg.Pool({ connectionString: server.databaseUrl, max: 4 });
  const connect = async () => {
    const client = await pool.connect();
    const query = async (text: string, values: readonly unknown[]) => {
      await gate(values);
      return client.query(text, [...values]);
    };
    return { query, release: () => client.release() };
  };
  const reads = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end() } as never }),
  });
  onTestFinished(() => reads.destroy());
  const ofTime = maxReadMs === undefined ? {} : { maxReadMs };
  return createPastSnapshots({ database: { reads }, maxBytes: 0, predefinedRoles: {}, compileCondition, ...ofTime });
}

async function createOrg(customerPath = "") {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: uniqueName("past"), customerPath } });
  const sql = await openSqlClient(server.databaseUrl);
  const [row] = await sql.query("select id, customer_id, revision, revision_time from orgs where id = $1", [org.id]);
  await sql.close();
  const time = new Date(String(row?.["revision_time"])).toISOString();
  const moment = { revision: String(row?.["revision"]), time, head_time: time };
  return { org: { id: org.id, customerId: String(row?.["customer_id"]) }, customerPath: org.customerPath, moment };
}

const callOf = (orgId: string) => ({ orgId, signal: () => new AbortController().signal });

test("the orgs of one customer are read one after the other, whoever asks, and those of another beside them", async () => {
  const first = await createOrg();
  const [second, other] = [await createOrg(first.customerPath), await createOrg()];
  expect(second.org.customerId).toBe(first.org.customerId);
  const blocked = Promise.withResolvers<void>();
  const begun: string[] = [];
  const snapshots = open(async (values) => {
    for (const { org } of [first, second, other]) {
      if (values.includes(org.id) && !begun.includes(org.id)) begun.push(org.id);
    }
    if (values.includes(first.org.id)) await blocked.promise;
  });
  const at = ({ org, moment }: typeof first, caller: string) => snapshots.at(callOf(caller), org, moment);
  const ofCustomer = [at(first, first.org.id), at(second, second.org.id)];
  const { snapshot } = await at(other, other.org.id);
  expect(snapshot.org.id).toBe(other.org.id);
  expect(begun.toSorted()).toEqual([first.org.id, other.org.id].toSorted());
  blocked.resolve();
  const [one, two] = await Promise.all(ofCustomer);
  expect([one?.snapshot.org.id, two?.snapshot.org.id]).toEqual([first.org.id, second.org.id]);
});

test("a statement that takes too long ends the question for good, and says what helps", async () => {
  const { org, moment } = await createOrg();
  const slow = open(async (values) => {
    if (values.includes(org.id)) throw await timeoutOf(server.databaseUrl);
  });
  await expect(slow.at(callOf(org.id), org, moment)).rejects.toMatchObject({
    reason: "DEADLINE_EXCEEDED",
    message: expect.stringContaining("ask about a later moment"),
  });
});

/** Returns the error of PostgreSQL for a statement that reaches its time limit. */
async function timeoutOf(connectionString: string): Promise<unknown> {
  const client = new pg.Client({ connectionString, statement_timeout: 10 });
  await client.connect();
  const error: unknown = await client.query("select pg_sleep(60)").catch((thrown: unknown) => thrown);
  await client.end();
  return error;
}

test("a reading of many statements ends after its time, and leaves its turn to the next one", async () => {
  const { org, moment } = await createOrg();
  const maxReadMs = 1_000;
  let isFirst = true;
  const snapshots = open(
    async () => {
      if (!isFirst) return;
      isFirst = false;
      // Longer than its time: the timer of that was set before.
      await new Promise((resolve) => setTimeout(resolve, maxReadMs + 100));
    },
    { maxReadMs },
  );
  const at = () => snapshots.at(callOf(org.id), org, moment);
  const [late] = await Promise.allSettled([at()]);
  expect(late).toMatchObject({ status: "rejected", reason: { reason: "DEADLINE_EXCEEDED" } });
  await expect
    .poll(() =>
      at().then(
        ({ snapshot }) => snapshot.org.id,
        () => undefined,
      ),
    )
    .toBe(org.id);
});
