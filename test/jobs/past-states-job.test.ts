// Tests which states of orgs are kept to read their past from, and when.
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLongReads } from "../../src/access/snapshots/long-reads.ts";
import { numberOf } from "../../src/changes/revision.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createPastStatesJob } from "../../src/jobs/past-states-job.ts";
import { registry } from "../../src/resource-registry.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

const hour = 3_600_000;
const leastRevisions = 6;

let server: SharedServer;
let database: Database;
let api: Api;
beforeAll(async () => {
  server = await sharedServer();
  api = createApi("gRPC", server.url, server.operatorKey);
  database = openDatabase({
    connection: { connectionString: server.databaseUrl },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
});
afterAll(() => database.close());

const createJob = () => {
  const longReads = createLongReads();
  const logger = pino({ level: "silent" });
  const job = createPastStatesJob({ database, registry, longReads, logger, leastRevisions, intervalMs: hour });
  return { job, longReads };
};

/** Creates an org, and a group in each of the next revisions. */
async function createOrg(revisions: number) {
  const { path, id } = await api.orgs.createOrg({ org: { name: uniqueName("states") } });
  const write = async (count: number) => {
    for (let n = 0; n < count; n++)
      await api.groups.createGroup({ parentPath: path, group: { name: `g${uniqueName("n")}` } });
  };
  await write(revisions);
  const row = () =>
    database.reads
      .selectFrom("orgs")
      .select(["customer_id", "revision"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  /** Tells the job of the commit of the head, of so many revisions. */
  const tell = async (revisionsOfCommit: number) => {
    const { revision, customer_id } = await row();
    const before = `${(numberOf(revision) - BigInt(revisionsOfCommit))
      .toString(16)
      .padStart(16, "0")
      .replace(/(.{8})(.{4})/, "$1-$2-")}${revision.slice(18)}`;
    const committed = { orgId: id, before, entries: [{ revision, customer_id }] };
    database.commits.tell([committed as never]);
  };
  const states = async () => {
    const rows = await database.reads
      .selectFrom("past_states")
      .select("revision")
      .where("org_id", "=", id)
      .where("resource_type", "=", "Org")
      .orderBy("revision")
      .execute();
    return rows.map(({ revision }) => Number(numberOf(revision)));
  };
  return { id, path, write, tell, states, row };
}

test("a state is kept when a revision is due, and as much has changed since the last one as the org has rows", async () => {
  const { job } = createJob();
  const org = await createOrg(3);
  const head = async () => Number(numberOf((await org.row()).revision));
  await org.write(leastRevisions - (await head()) - 1);
  await org.tell(1);
  expect([await job.runOnce(), await org.states()]).toEqual([0, []]);
  await org.write(1);
  await org.tell(1);
  expect([await job.runOnce(), await org.states()]).toEqual([1, [leastRevisions]]);
  // It has about as many rows as revisions.
  await org.write(leastRevisions - 2);
  await org.tell(leastRevisions);
  expect([await job.runOnce(), await org.states()]).toEqual([0, [leastRevisions]]);
  await job.close();
});

test("an org whose past was read from far away gets the states that its log is without, in order, and then no more", async () => {
  const { job, longReads } = createJob();
  const org = await createOrg(1);
  const { path } = await api.groups.createGroup({ parentPath: org.path, group: { name: "renamed" } });
  for (let n = 0; n < 4 * leastRevisions; n++) {
    await api.groups.updateGroup({
      path: path.replace(/[^/]+$/, n === 0 ? "renamed" : `n${n - 1}`),
      group: { name: `n${n}` },
    });
  }
  const { customer_id, revision } = await org.row();
  longReads.note({ id: org.id, customer_id }, 5n);
  expect(longReads.list()).toEqual([]);
  longReads.note({ id: org.id, customer_id }, 1_000_000n);
  while (longReads.list().length > 0) await job.runOnce();
  const states = await org.states();
  expect(states[0]).toBe(leastRevisions);
  expect(states.every((state, index) => index === 0 || state - (states[index - 1] ?? 0) === leastRevisions)).toBe(true);
  expect(Number(numberOf(revision)) - (states.at(-1) ?? 0)).toBeLessThan(2 * leastRevisions);
  longReads.note({ id: org.id, customer_id }, 1_000_000n);
  await job.runOnce();
  expect([await org.states(), longReads.list()]).toEqual([states, []]);
  await job.close();
});
