// Creations and ends of operations that wait for the lock of one org share a transaction. None notices what becomes of the others.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { type Operation, Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { Claim } from "../../gen/resources/v1alpha/provider_pb.ts";
import {
  type CreateResourceRequestSchema,
  type ResourceSchema,
  Resource_State,
} from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
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
const untilBlocked = (count: number): Promise<void> => expect.poll(() => watcher.query(blocked)).toHaveLength(count);

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

/** Returns an outcome as text: the state of the operation, such as `PENDING`, or the reason of an error. */
const textOf = (outcome: Outcome): string => {
  if ("reason" in outcome) return String(outcome.reason);
  const { state } = outcome;
  return Object.entries(Operation_State).find(([, value]) => value === state)?.[0] ?? String(state);
};

interface Entry {
  readonly name: string;
  readonly revision: string;
  /** Entries of one transaction have the same. */
  readonly transaction: string;
}

/** The changes of resources in the log of the org, in the order of their revisions. */
async function logged(method = "%"): Promise<Entry[]> {
  const rows = await watcher.query(
    `select coalesce(after, before) ->> 'name' as name, revision::text, xmin::text as transaction from changes
    where org_id::text = $1 and resource_type = 'Resource' and method like $2 order by revision`,
    [orgId, method],
  );
  return rows as unknown as Entry[];
}

const namesLogged = async (): Promise<string[]> => (await logged()).map(({ name }) => name).toSorted();

/** Repeats calls behind the lock until some share a transaction: one that takes long, on a slow machine, takes no more writes. */
async function untilShared(callsOf: (round: number) => Promise<(() => Promise<Operation>)[]>): Promise<void> {
  for (let round = 0; ; round++) {
    const calls = await callsOf(round);
    const outcomes = await behindLock(calls);
    expect(outcomes.filter((outcome) => "reason" in outcome)).toEqual([]);
    const made = (await logged()).slice(-calls.length);
    expect(new Set(made.map(({ revision }) => revision)).size).toBe(calls.length);
    if (new Set(made.map(({ transaction }) => transaction)).size < calls.length) return;
  }
}

async function completeAll(): Promise<void> {
  const { claims } = await cloud.provider.claimOperations({ servicePath: cloud.servicePath, maxOperations: 100 });
  for (const claim of claims) await cloud.provider.completeOperation(cloud.present(claim));
}

async function held(): Promise<{ readonly used: number; readonly reserved: number }> {
  const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
  const { usage, reserved: reservedAmounts } = await quotas.getQuota({ parentPath: cloud.org });
  return { used: usage[cloud.cores] ?? 0, reserved: reservedAmounts[cloud.cores] ?? 0 };
}

const reserved = async (): Promise<number> => (await held()).reserved;

/** Creates resources, and claims their creations, in the same order. */
async function claimNew(...names: readonly string[]): Promise<Claim[]> {
  for (const name of names) await create({ name });
  const { claims } = await cloud.provider.claimOperations({
    servicePath: cloud.servicePath,
    maxOperations: names.length,
  });
  expect(claims).toHaveLength(names.length);
  return claims;
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

  test("share one with one that has a request id, and none with one that is only validated", async () => {
    const requestId = crypto.randomUUID();
    const outcomes = await behindLock([
      () => create({ name: "a" }, { requestId }),
      () => create({ name: "b" }, { validateOnly: true }),
      () => create({ name: "c" }),
    ]);
    expect(outcomes.map(textOf)).toEqual(["PENDING", "PENDING", "PENDING"]);
    expect(await namesLogged()).toEqual(["a", "c"]);
    expect(await reserved()).toBe(4);
    await untilShared(async (round) =>
      ["d", "e", "f"].map((name) => () => create({ name: `${name}-${round}` }, { requestId: crypto.randomUUID() })),
    );
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

interface BadCompletion {
  readonly claimToken?: string;
  readonly givenQuantities?: Record<string, number>;
  readonly givenQualities?: Record<string, number>;
}

describe("ends of operations that wait for the lock of their org", () => {
  const complete = (claim: Claim, cores?: number, on: ResourcesApi = cloud, requestId = "") =>
    on.provider.completeOperation({
      ...cloud.present(claim),
      ...(cores !== undefined && { givenQuantities: { [cloud.cores]: cores } }),
      requestId,
    });

  test("share a transaction, with a revision, a time and a charge each", async () => {
    await untilShared(async (round) => {
      const claims = await claimNew(`a-${round}`, `b-${round}`, `c-${round}`, `d-${round}`);
      return claims.map((claim, index) => () => complete(claim, 3, cloud, index < 2 ? crypto.randomUUID() : ""));
    });
    const entries = await logged("%CompleteOperation");
    expect(await held()).toEqual({ used: 3 * entries.length, reserved: 0 });
    const inOrder = await watcher.query(
      `select revision::text, time::text, string_agg(resource_type, ' ' order by position) as types from changes
      where org_id::text = $1 and method like '%CompleteOperation' group by revision, time order by revision`,
      [orgId],
    );
    expect(inOrder.map(({ types }) => types)).toEqual(entries.map(() => "Resource Operation"));
    const times = inOrder.map(({ time }) => String(time));
    expect(new Set(times).size).toBe(entries.length);
    expect(times.toSorted()).toEqual(times);
  });

  test("share one with those of deletions, failures, cancellations and reports", async () => {
    await untilShared(async (round) => {
      const names = ["a", "b", "c", "d", "e"].map((name) => `${name}-${round}`);
      const [deleted, completed, failed, cancelled, reported] = names.map(cloud.pathOf) as [
        string,
        string,
        string,
        string,
        string,
      ];
      for (const claim of await claimNew(...names.filter((_, index) => [0, 4].includes(index)))) await complete(claim);
      await cloud.resources.deleteResource({ path: deleted });
      const deletion = await cloud.claim();
      const [ofB, ofC] = (await claimNew(...names.slice(1, 3))) as [Claim, Claim];
      const { path } = await create({ name: required(names[3]) });
      expect([ofB, ofC].map(({ resource }) => resource?.path)).toEqual([completed, failed]);
      return [
        () => complete(deletion),
        () => complete(ofB),
        () => cloud.provider.failOperation({ ...cloud.present(ofC), reason: "NO_CAPACITY" }),
        () => cloud.operations.cancelOperation({ path: path.replace(cloud.org, `/orgs/@${orgId}`) }),
        async () => {
          const report = {
            servicePath: cloud.servicePath,
            resourcePath: reported,
            stateReason: `${cancelled} is gone`,
          };
          await cloud.provider.reportResource({ ...report, state: Resource_State.FAILED });
          return cloud.operations.getOperation({ path: required(deletion.operation).path });
        },
      ];
    });
    // Of each round, those that were completed and reported are left. What failed holds nothing.
    const { resources } = await cloud.resources.listResources({ parentPath: cloud.project });
    const active = resources.filter(({ name }) => name.startsWith("b-") || name.startsWith("e-"));
    expect(await held()).toEqual({ used: 2 * active.length, reserved: 0 });
    expect(resources.map(({ name }) => name[0])).not.toContain("d");
  });

  test.each<[what: string, bad: BadCompletion, reason: string]>([
    ["has a void claim", { claimToken: crypto.randomUUID() }, "CLAIM_VOID"],
    ["gives less than was wanted", { givenQuantities: { placeholder: 1 } }, "FIELD_INVALID"],
    ["gives more than a quota has left", { givenQuantities: { placeholder: 4 } }, "QUOTA_EXCEEDED"],
    ["gives what its operation does not have", { givenQualities: { other: 1 } }, "FIELD_INVALID"],
  ])("do not notice one that %s", async (_what, { givenQuantities, ...bad }, reason) => {
    await limit(10);
    const [a, b, c, d, e] = (await claimNew("a", "b", "c", "d", "e")) as [Claim, Claim, Claim, Claim, Claim];
    const amounts = Object.values(givenQuantities ?? {});
    const refused = (claim: Claim) => () =>
      cloud.provider.completeOperation({
        ...cloud.present(claim),
        ...(amounts.length > 0 && { givenQuantities: { [cloud.cores]: required(amounts[0]) } }),
        ...bad,
      });
    const outcomes = await behindLock([
      () => complete(a),
      refused(b),
      () => complete(c),
      refused(d),
      () => complete(e),
    ]);
    expect(outcomes.map(textOf)).toEqual(["SUCCEEDED", reason, "SUCCEEDED", reason, "SUCCEEDED"]);
    expect((await logged("%CompleteOperation")).map(({ name }) => name).toSorted()).toEqual(["a", "c", "e"]);
    expect(await held()).toEqual({ used: 6, reserved: 4 });
    // The claims of those that were refused are good as they were.
    for (const claim of [b, d]) expect((await complete(claim)).state).toBe(Operation_State.SUCCEEDED);
    expect(await held()).toEqual({ used: 10, reserved: 0 });
  });

  test("give exactly what is left of the quota beyond what was asked, also on two servers", async () => {
    await limit(15);
    const claims = await claimNew(...Array.from({ length: 6 }, (_, index) => `m-${index}`));
    const outcomes = await behindLock(
      claims.map((claim, index) => () => complete(claim, 3, index % 2 ? other : cloud)),
      { waiting: 2 * turns },
    );
    expect(outcomes.map(textOf).toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => "QUOTA_EXCEEDED"),
      ...Array.from({ length: 3 }, () => "SUCCEEDED"),
    ]);
    expect(await held()).toEqual({ used: 9, reserved: 6 });
  });

  test("are carried out also if the org is suspended meanwhile", async () => {
    const claims = await claimNew("a", "b", "c");
    const outcomes = await behindLock(
      claims.map((claim) => () => complete(claim)),
      { meanwhile: "update orgs set state = 'SUSPENDED' where id = $1" },
    );
    await sql.query("update orgs set state = 'ACTIVE' where id = $1", [orgId]);
    expect(outcomes.map(textOf)).toEqual(["SUCCEEDED", "SUCCEEDED", "SUCCEEDED"]);
  });

  test("with one request id are carried out once, also on two servers, and have the same answer", async () => {
    const [claim] = (await claimNew("a")) as [Claim];
    const requestId = crypto.randomUUID();
    const outcomes = await behindLock(
      [cloud, other, cloud, other].map((on) => () => complete(claim, 3, on, requestId)),
      { waiting: 4 },
    );
    expect(outcomes.map(textOf)).toEqual(Array.from({ length: 4 }, () => "SUCCEEDED"));
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
    expect(await logged("%CompleteOperation")).toHaveLength(1);
    expect(await held()).toEqual({ used: 3, reserved: 0 });
  });

  test("do not wait for one whose request id a write outside of the group has", async () => {
    const claims = await claimNew("a", "b", "c");
    const requestId = crypto.randomUUID();
    await watcher.query("begin");
    await watcher.query(
      `select pg_advisory_xact_lock(hashtextextended((
        select actor_id::text from changes where org_id = $1 order by revision desc limit 1) || ' ' || $2, 0))`,
      [orgId, requestId],
    );
    const ids = ["", requestId, ""];
    const [first, waiting, last] = claims.map((claim, index) => complete(claim, 3, cloud, ids[index]));
    expect((await required(first)).state).toBe(Operation_State.SUCCEEDED);
    expect((await required(last)).state).toBe(Operation_State.SUCCEEDED);
    expect(await held()).toEqual({ used: 6, reserved: 2 });
    await watcher.query("commit");
    expect((await required(waiting)).state).toBe(Operation_State.SUCCEEDED);
    expect(await held()).toEqual({ used: 9, reserved: 0 });
  });
});
