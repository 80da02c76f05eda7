// Creations that wait for the lock of one org share a transaction. None notices what becomes of the others.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { CreateResourceRequestSchema, ResourceSchema } from "../../gen/resources/v1alpha/resource_pb.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

let server: SharedServer;
let second: SharedServer;
/** Holds locks. */
let sql: SqlClient;
let watcher: SqlClient;
let cloud: Cloud;
let other: ResourcesApi;
let orgId: string;
/** How many writes of an org wait for its lock at once on a server; the others wait behind them. */
const turns = 3;

beforeAll(async () => {
  server = await sharedServer();
  second = await secondSharedServer();
  sql = await openSqlClient(server.databaseUrl);
  watcher = await openSqlClient(server.databaseUrl);
  other = createResourcesApi("gRPC", second.url, server.operatorKey);
});
afterAll(async () => {
  await watcher.close();
  await sql.close();
});
beforeEach(async () => {
  cloud = await openCloud("Connect", server.url, server.operatorKey);
  orgId = (await cloud.api.orgs.getOrg({ path: cloud.org })).id;
});

type NewResource = MessageInitShape<typeof ResourceSchema> & { readonly name: string };
type Outcome = Operation | Awaited<ReturnType<typeof failureOf>>;

function create(
  { name, ...fields }: NewResource,
  request: Omit<MessageInitShape<typeof CreateResourceRequestSchema>, "$typeName"> = {},
  on: ResourcesApi = cloud,
  timeoutMs?: number,
): Promise<Operation> {
  const resource = { name, typePath: cloud.typePath, quantities: { [cloud.cores]: 2 }, ...fields };
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  return on.resources.createResource({ parentPath: cloud.project, resource, ...request }, options);
}

const blocked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** Waits until as many transactions wait for locks. */
const untilBlocked = (count: number): Promise<void> =>
  expect.poll(() => watcher.query(blocked), { timeout: 10_000 }).toHaveLength(count);

/**
 * Runs calls while the lock of the org is held, until they wait for it.
 *
 * @param waiting how many transactions wait for it then.
 * @param meanwhile runs in the transaction that holds the lock, at its end.
 */
async function behindLock(
  calls: readonly (() => Promise<Operation>)[],
  { waiting = Math.min(calls.length, turns), meanwhile = "" } = {},
): Promise<Outcome[]> {
  await sql.query("begin");
  await sql.query("select from orgs where id = $1 for update", [orgId]);
  const outcomes: Promise<Outcome>[] = [];
  for (const call of calls) outcomes.push(call().catch((error: unknown) => failureOf(Promise.reject(error))));
  await untilBlocked(waiting);
  if (meanwhile !== "") await sql.query(meanwhile, [orgId]);
  await sql.query("commit");
  return Promise.all(outcomes);
}

/** Returns an outcome as text: `PENDING`, or the reason of an error. */
const textOf = (outcome: Outcome): string => ("reason" in outcome ? String(outcome.reason) : "PENDING");

interface Entry {
  readonly name: string;
  readonly revision: string;
  /** Entries of one transaction have the same. */
  readonly transaction: string;
}

/** The changes of resources in the log of the org, in the order of their revisions. */
async function logged(): Promise<Entry[]> {
  const rows = await watcher.query(
    `select after ->> 'name' as name, revision::text, xmin::text as transaction from changes
    where org_id::text = $1 and resource_type = 'Resource' order by revision`,
    [orgId],
  );
  return rows as unknown as Entry[];
}

const namesLogged = async (): Promise<string[]> => (await logged()).map(({ name }) => name).toSorted();

/** Repeats calls behind the lock until some share a transaction: one that takes long, on a slow machine, takes no more writes. */
async function untilShared(callsOf: (round: number) => Promise<(() => Promise<Operation>)[]>): Promise<void> {
  for (let round = 0; ; round++) {
    const calls = await callsOf(round);
    const outcomes = await behindLock(calls);
    expect(outcomes.map(textOf)).toEqual(calls.map(() => "PENDING"));
    const made = (await logged()).slice(-calls.length);
    expect(new Set(made.map(({ revision }) => revision)).size).toBe(calls.length);
    if (new Set(made.map(({ transaction }) => transaction)).size < calls.length) return;
  }
}

async function completeAll(): Promise<void> {
  const { claims } = await cloud.provider.claimOperations({ servicePath: cloud.servicePath, maxOperations: 100 });
  for (const claim of claims) await cloud.provider.completeOperation(cloud.present(claim));
}

async function reserved(): Promise<number> {
  const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
  return (await quotas.getQuota({ parentPath: cloud.org })).reserved[cloud.cores] ?? 0;
}

async function limit(cores: number): Promise<void> {
  const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
  await quotas.updateQuota({ parentPath: cloud.org, quota: { limits: { [cloud.cores]: cores } } });
}

describe("creations that wait for the lock of their org", () => {
  test("share a transaction, with a revision, an operation and a reservation each", async () => {
    await untilShared(async (round) => ["a", "b", "c"].map((name) => () => create({ name: `${name}-${round}` })));
    const entries = await logged();
    expect(await reserved()).toBe(2 * entries.length);
    const { operations } = await cloud.operations.listOperations({ parentPath: cloud.project });
    expect(operations.map(({ resourcePath }) => resourcePath).toSorted()).toEqual(
      entries.map(({ name }) => cloud.pathOf(name)).toSorted(),
    );
    const perRevision = await watcher.query(
      "select count(*)::int from changes where org_id::text = $1 and resource_type = 'Operation' group by revision",
      [orgId],
    );
    expect(perRevision).toEqual(entries.map(() => ({ count: 1 })));
  });

  test("answer what is stored", async () => {
    const started = await behindLock(["a", "b", "c"].map((name) => () => create({ name, labels: { name } })));
    for (const operation of started as Operation[]) {
      expect(await cloud.operations.getOperation({ path: operation.path })).toEqual(operation);
    }
  });

  test.each<[what: string, bad: NewResource, reason: string]>([
    ["exceeds the quota", { name: "x", quantities: { placeholder: 60 } }, "QUOTA_EXCEEDED"],
    ["has the name of another", { name: "taken" }, "RESOURCE_EXISTS"],
    ["has bad variables", { name: "x", quantities: { placeholder: 0.25 } }, "FIELD_INVALID"],
    ["gives references that its type does not have", { name: "x", references: { disk: "/d" } }, "FIELD_INVALID"],
    ["has no type", { name: "x", typePath: "/services/none/resourceTypes/none" }, "FIELD_INVALID"],
  ])("do not notice one that %s", async (_what, { quantities, ...bad }, reason) => {
    await create({ name: "taken" });
    await limit(10);
    const amounts = Object.values(quantities ?? { placeholder: 1 });
    const refused = { ...bad, quantities: { [cloud.cores]: amounts[0] ?? 0 } };
    const before = await reserved();
    const outcomes = await behindLock([
      () => create({ name: "a" }),
      () => create(refused),
      () => create({ name: "b" }),
      () => create(refused),
      () => create({ name: "c" }),
    ]);
    expect(outcomes.map(textOf).toSorted()).toEqual(["PENDING", "PENDING", "PENDING", reason, reason].toSorted());
    expect(await namesLogged()).toEqual(["a", "b", "c", "taken"]);
    expect(await reserved()).toBe(before + 6);
    const { resources } = await cloud.resources.listResources({ parentPath: cloud.project });
    expect(resources.map(({ name }) => name).toSorted()).toEqual(["a", "b", "c", "taken"]);
  });

  test("get exactly what is left of the quota, also on two servers", async () => {
    await limit(10);
    const outcomes = await behindLock(
      Array.from({ length: 12 }, (_, index) => () => create({ name: `m-${index}` }, {}, index % 2 ? other : cloud)),
      { waiting: 2 * turns },
    );
    expect(outcomes.filter((each) => textOf(each) === "PENDING")).toHaveLength(5);
    expect(outcomes.filter((each) => textOf(each) === "QUOTA_EXCEEDED")).toHaveLength(7);
    expect(await reserved()).toBe(10);
  });

  test("are all refused if the org is suspended meanwhile", async () => {
    const outcomes = await behindLock(
      ["a", "b", "c"].map((name) => () => create({ name })),
      { meanwhile: "update orgs set state = 'SUSPENDED' where id = $1" },
    );
    expect(outcomes.map(textOf)).toEqual(["STATE_FORBIDS", "STATE_FORBIDS", "STATE_FORBIDS"]);
    await sql.query("update orgs set state = 'ACTIVE' where id = $1", [orgId]);
    expect(await logged()).toEqual([]);
  });

  test("are all refused if their project is suspended meanwhile", async () => {
    const outcomes = await behindLock(
      ["a", "b", "c"].map((name) => () => create({ name })),
      { meanwhile: "update projects set state = 'SUSPENDED' where org_id = $1" },
    );
    expect(outcomes.map(textOf)).toEqual(["STATE_FORBIDS", "STATE_FORBIDS", "STATE_FORBIDS"]);
    expect(await logged()).toEqual([]);
  });

  test("end at their own deadlines, and what is not answered is not made", async () => {
    await sql.query("begin");
    await sql.query("select from orgs where id = $1 for update", [orgId]);
    const late = failureOf(create({ name: "late" }, {}, cloud, 300));
    const calls = ["a", "b"].map((name) => create({ name }));
    expect(["DeadlineExceeded", "Unavailable"]).toContain((await late).code);
    await untilBlocked(2);
    await sql.query("commit");
    expect((await Promise.all(calls)).map(textOf)).toEqual(["PENDING", "PENDING"]);
    expect(await namesLogged()).toEqual(["a", "b"]);
  });

  test("share none with one that is only validated or has a request id", async () => {
    const requestId = crypto.randomUUID();
    const outcomes = await behindLock([
      () => create({ name: "a" }, { requestId }),
      () => create({ name: "b" }, { validateOnly: true }),
      () => create({ name: "c" }),
    ]);
    expect(outcomes.map(textOf)).toEqual(["PENDING", "PENDING", "PENDING"]);
    expect(await namesLogged()).toEqual(["a", "c"]);
    expect(new Set((await logged()).map(({ transaction }) => transaction)).size).toBe(2);
    expect(await reserved()).toBe(4);
  });

  test("share one with deletions and other operations", async () => {
    await untilShared(async (round) => {
      const [deleted, started] = [`a-${round}`, `b-${round}`];
      await create({ name: deleted });
      await create({ name: started });
      await completeAll();
      return [
        () => cloud.resources.deleteResource({ path: cloud.pathOf(deleted) }),
        () => cloud.resources.runResource({ path: cloud.pathOf(started), operation: "start" }),
        () => create({ name: `c-${round}` }),
      ];
    });
  });
});
