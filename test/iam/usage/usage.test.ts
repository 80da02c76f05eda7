// Tests what is said of usage: as a naive integration of the log has it, to the last digit, and at each moment as the quotas had it.
import { type Client, createClient } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuotasService } from "../../../gen/iam/v1alpha/quota_pb.ts";
import {
  QueryUsageRequest_Dimension as Dimension,
  type QueryUsageResponse,
  type UsageSeries,
  UsageService,
} from "../../../gen/iam/v1alpha/usage_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { type Cloud, openCloud } from "../../resources/cloud.ts";
import { uniqueName } from "../../support/api.ts";
import { rounds } from "../../support/rounds.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { createTransport, protocols } from "../../support/transports.ts";
import type { Dimensions, UsageScope } from "../../../src/iam/usage/select-usage.ts";
import { type Entry, type NaivePeriod, type NaivePoint, integrate, readHistory } from "./naive-usage.ts";
import { type AskSummed, createAskSummed, naively, openServer, shortPieces, undivided } from "./summed-usage.ts";

let server: SharedServer;
let sql: SqlClient;
let cloud: Cloud;
/** Another service, whose type `disks` counts the cores of the first, and has undelete and purge. */
let storage: Cloud;
let disks: string;
let usage: Client<typeof UsageService>;
let customer: string;
let orgs: readonly string[];
let projects: readonly string[];

beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  cloud = await openCloud("gRPC", server.url, server.operatorKey);
  storage = await openCloud("gRPC", server.url, server.operatorKey);
  const quantities = [{ kind: cloud.cores, counted: true }];
  const operations = [
    { verb: "create", quantities },
    { verb: "resize", quantities },
    ...["delete", "undelete", "purge", "suspend", "resume"].map((verb) => ({ verb })),
  ];
  const resourceType = { name: "disks", collection: "disks", operations };
  disks = (await storage.types.createResourceType({ parentPath: storage.servicePath, resourceType })).path;
  const { api, org, project } = cloud;
  customer = (await api.orgs.getOrg({ path: org })).customerPath;
  const other = (await api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath: customer } })).path;
  const more = await Promise.all(
    [org, other].map((parentPath) => api.projects.createProject({ parentPath, project: { name: "more" } })),
  );
  orgs = [org, other];
  projects = [project, ...more.map(({ path }) => path)];
  usage = createClient(UsageService, createTransport("gRPC", server.url, server.operatorKey));
});
afterAll(() => sql.close());

const timestamp = (microseconds: bigint) => ({
  seconds: microseconds / 1_000_000n,
  nanos: Number(microseconds % 1_000_000n) * 1_000,
});

const microsecondsOf = ({ seconds, nanos }: { seconds: bigint; nanos: number }): bigint =>
  seconds * 1_000_000n + BigInt(nanos / 1_000);

const pointsOf = ({ series }: QueryUsageResponse, groupOf: (series: UsageSeries) => string) =>
  new Map(
    series.map((each) => [
      `${groupOf(each)} ${each.kind}`,
      each.points.map(({ amount, maximum, amountSeconds }) => ({ amount, maximum, amountSeconds })),
    ]),
  );

/** Returns the amounts at the end of the last step, by kind. */
const lastAmounts = ({ series }: QueryUsageResponse): Record<string, number> =>
  Object.fromEntries(series.map(({ kind, points }) => [kind, Number(points.at(-1)?.amount)]));

const step = fc.record({
  kind: fc.constantFrom("create", "create", "disk", "disk", "resize", "report", "fail", "delete", "undelete", "purge"),
  which: fc.nat(999),
  /** Tenths of a core. */
  amount: fc.integer({ min: 5, max: 40 }),
});

interface Made {
  readonly path: string;
  readonly of: Cloud;
  state: "there" | "deleted";
}

/** Runs random operations of both services in all projects, and calls `after` when each has ended. */
async function makeHistory(length: number, after: () => Promise<void>): Promise<void> {
  const made: Made[] = [];
  for (const { kind, which, amount } of fc.sample(step, { seed: 45, numRuns: length })) {
    const parentPath = required(projects[which % projects.length]);
    const quantities = { [cloud.cores]: amount / 10 };
    const pick = (some: readonly Made[]): Made | undefined => some[which % Math.max(some.length, 1)];
    const there = pick(made.filter(({ state }) => state === "there"));
    const deleted = pick(made.filter(({ state }) => state === "deleted"));
    const remove = (each: Made) => made.splice(made.indexOf(each), 1);
    if (kind === "create" || kind === "disk") {
      const of = kind === "disk" ? storage : cloud;
      const typePath = kind === "disk" ? disks : cloud.typePath;
      const { resources, complete } = { resources: of.resources, complete: of.complete };
      const name = uniqueName("made");
      await resources.createResource({ parentPath, resource: { name, typePath, quantities } });
      const given = which % 3 === 0 ? { [cloud.cores]: amount / 10 + 0.3 } : {};
      await complete(given);
      const { id } = await resources.getResource({ path: `${parentPath}/resources/${name}` });
      made.push({ path: `${parentPath}/resources/@${id}`, of, state: "there" });
    } else if (kind === "undelete" || kind === "purge") {
      if (deleted === undefined) continue;
      const { path } = deleted;
      if (kind === "purge") await storage.resources.runResource({ path, operation: "purge" });
      else await storage.resources.undeleteResource({ path });
      await storage.complete();
      if (kind === "purge") remove(deleted);
      else deleted.state = "there";
    } else if (there !== undefined) {
      const { path, of } = there;
      if (kind === "delete") {
        await of.resources.deleteResource({ path });
        await of.complete();
        if (of === cloud) remove(there);
        else there.state = "deleted";
      } else if (kind === "report") {
        const { servicePath, provider, resources } = of;
        const wanted = required((await resources.getResource({ path })).quantities[cloud.cores]);
        const givenQuantities = { [cloud.cores]: (Math.round(wanted * 10) + (which % 4)) / 10 };
        await provider.reportResource({ servicePath, resourcePath: path, givenQuantities });
      } else {
        await of.resources.runResource({ path, operation: "resize", quantities });
        if (kind === "resize") await of.complete();
        else await of.provider.failOperation({ ...of.present(await of.claim()), reason: "BUSY" });
      }
    }
    await after();
  }
}

type Question = readonly [scope: UsageScope, period: NaivePeriod, dimensions: Dimensions];

/**
 * Returns one more server, and random questions about what has been there until now, some at the bounds of pieces.
 *
 * @param since when, in microseconds; by default, now.
 */
async function openSummed(customerId: string, since?: number): Promise<{ sample: () => Question; ask: AskSummed }> {
  const scopes: UsageScope[] = [{ kind: "customer", id: customerId, customerId, orgId: null }];
  for (const path of orgs) {
    const { id } = await cloud.api.orgs.getOrg({ path });
    scopes.push({ kind: "org", id, customerId, orgId: id });
  }
  const { id: projectId } = await cloud.api.projects.getProject({ path: required(projects[0]) });
  scopes.push({ kind: "project", id: projectId, customerId, orgId: required(scopes[1]).id });
  const dimensions = [
    undivided,
    { ...undivided, org: true, project: true },
    { ...undivided, service: true, type: true },
  ];
  const question = fc.record({
    scope: fc.constantFrom(...scopes),
    dimensions: fc.constantFrom(...dimensions),
    ago: fc.integer({ min: 1, max: 1_000 }),
    length: fc.integer({ min: 1, max: 9_000_000 }),
    step: fc.constantFrom(1n, 1n, 2n, 60n),
    piece: fc.constantFrom(1, 250_000, 1_000_000),
  });
  const [first] = await sql.query("select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now");
  const [begun, startedAt] = [Number(first?.["now"]), performance.now()];
  let seed = 0;
  const sample = (): Question => {
    const [{ scope, dimensions: some, ago, length, step: seconds, piece }] = fc.sample(question, {
      seed: seed++,
      numRuns: 1,
    }) as [typeof question extends fc.Arbitrary<infer Value> ? Value : never];
    const now = begun + Math.floor((performance.now() - startedAt) * 1000);
    const start = Math.floor((now - ((now - (since ?? begun)) * ago) / 1_000) / piece) * piece;
    const end = Math.min(now - 1, start + Math.ceil(length / piece) * piece);
    return [scope, { start: BigInt(start), end: BigInt(end), step: seconds * 1_000_000n }, some];
  };
  return { sample, ask: await createAskSummed(openServer(server.databaseUrl), sql, shortPieces) };
}

describe("after a random history", () => {
  let history: readonly Entry[];
  let asked: { readonly question: Question; readonly points: ReadonlyMap<string, readonly NaivePoint[]> }[];
  let recorded: { readonly time: bigint; readonly parentPath: string; readonly used: Record<string, number> }[];
  const nameOf = new Map<string, string>();

  beforeAll(async () => {
    const quotas = createClient(QuotasService, createTransport("gRPC", server.url, server.operatorKey));
    const { id } = await cloud.api.customers.getCustomer({ path: customer });
    recorded = [];
    asked = [];
    let count = 0;
    const { sample, ask } = await openSummed(id);
    await makeHistory(rounds(48, 400), async () => {
      // While it goes on, so that sums are made and extended before what follows.
      if (count % 3 === 2) {
        const question = sample();
        asked.push({ question, points: await ask(...question) });
      }
      const parentPath = required([customer, ...orgs, ...projects][count++ % 6]);
      const [row] = await sql.query(
        "select (extract(epoch from max(revision_time)) * 1000000)::bigint as time from orgs where customer_id = $1",
        [id],
      );
      const { usage: used } = await quotas.getQuota({ parentPath });
      recorded.push({ time: BigInt(String(row?.["time"])), parentPath, used });
    });
    history = await readHistory(sql, id);
    for (const path of orgs) nameOf.set((await cloud.api.orgs.getOrg({ path })).id, path);
    for (const path of projects) nameOf.set((await cloud.api.projects.getProject({ path })).id, path);
    for (const path of [cloud.typePath, disks]) {
      nameOf.set((await cloud.types.getResourceType({ path })).id, path);
    }
  });

  test("usage that was asked for while it went on is the integral of what the log had until then", () => {
    expect(asked.length).toBeGreaterThan(10);
    for (const { question, points } of asked) {
      expect([question, points]).toEqual([question, naively(history, ...question)]);
    }
  });

  test("any question gets the same with sums, from two servers at once", async () => {
    const { id } = await cloud.api.customers.getCustomer({ path: customer });
    const { sample, ask } = await openSummed(id, Number(history[0]?.time));
    const other = await createAskSummed(openServer(server.databaseUrl), sql);
    for (let round = 0; round < rounds(60, 1_000); round++) {
      const question = sample();
      const naive = naively(history, ...question);
      const answers = await Promise.all([ask(...question), other(...question)]);
      expect([question, ...answers]).toEqual([question, naive, naive]);
    }
    // They were read from sums, some of which several questions have extended.
    const [row] = await sql.query(
      "select count(*) as summaries, sum((ends - begins) / piece) as pieces from usage_summaries where customer_id = $1",
      [id],
    );
    expect(Number(row?.["summaries"])).toBeGreaterThan(10);
    expect(Number(row?.["pieces"])).toBeGreaterThan(100);
  });

  const pathOf = (id: string): string => required(nameOf.get(id));
  const serviceOf = ({ typeId }: Entry): string => pathOf(typeId).replace(/\/resourceTypes\/.*/, "");

  /** The first revision and the last are at the edges of a step, and further ones in it. */
  const periodOf = (seconds: bigint) => {
    const times = history.map(({ time }) => time).toSorted((one, other) => (one < other ? -1 : 1));
    const [start, end] = [required(times[0]), required(times.at(-1))];
    return { start, end, step: seconds * 1_000_000n };
  };

  const { ORG, PROJECT, SERVICE, RESOURCE_TYPE } = Dimension;

  test.each([
    ["nothing but the kind", [], () => "", () => ""],
    ["org", [ORG], ({ orgId }: Entry) => pathOf(orgId), ({ orgPath }: UsageSeries) => orgPath],
    ["project", [PROJECT], ({ projectId }: Entry) => pathOf(projectId), ({ projectPath }: UsageSeries) => projectPath],
    ["service", [SERVICE], serviceOf, ({ servicePath }: UsageSeries) => servicePath],
    ["type", [RESOURCE_TYPE], ({ typeId }: Entry) => pathOf(typeId), ({ typePath }: UsageSeries) => typePath],
    [
      "all of them",
      [ORG, PROJECT, SERVICE, RESOURCE_TYPE],
      (entry: Entry) =>
        [pathOf(entry.orgId), pathOf(entry.projectId), serviceOf(entry), pathOf(entry.typeId)].join(" "),
      ({ orgPath, projectPath, servicePath, typePath }: UsageSeries) =>
        [orgPath, projectPath, servicePath, typePath].join(" "),
    ],
  ])("usage of a customer, by %s, is the integral of the log to the last digit", async (_, groupBy, group, shown) => {
    for (const seconds of [1n, 2n, 3_600n]) {
      const period = periodOf(seconds);
      const [fromTime, toTime] = [timestamp(period.start), timestamp(period.end)];
      const answer = await usage.queryUsage({ parentPath: customer, fromTime, toTime, step: { seconds }, groupBy });
      expect(pointsOf(answer, shown)).toEqual(integrate(history, period, group));
      expect(
        required(answer.series[0]).points.map(({ startTime: begins }) => microsecondsOf(required(begins))),
      ).toEqual(
        Array.from(
          { length: Number((period.end - period.start - 1n) / period.step) + 1 },
          (__, index) => period.start + BigInt(index) * period.step,
        ),
      );
      expect(answer.toTime && microsecondsOf(answer.toTime)).toBe(period.end);
    }
  });

  test("usage of an org, and of a project, is that of the resources in it", async () => {
    const period = periodOf(1n);
    const common = { fromTime: timestamp(period.start), toTime: timestamp(period.end), step: { seconds: 1n } };
    for (const parentPath of [...orgs, ...projects]) {
      const inIt = history.filter(({ orgId, projectId }) => [pathOf(orgId), pathOf(projectId)].includes(parentPath));
      const answer = await usage.queryUsage({ parentPath, ...common });
      expect([parentPath, pointsOf(answer, () => "")]).toEqual([parentPath, integrate(inIt, period, () => "")]);
    }
  });

  test("the amounts at a moment are what the quotas showed then", async () => {
    for (const { time, parentPath, used } of recorded) {
      const answer = await usage.queryUsage({ parentPath, fromTime: timestamp(time - 1n), toTime: timestamp(time) });
      // `ram` does not count against quotas.
      const { [cloud.ram]: _, ...counted } = lastAmounts(answer);
      const { [cloud.cores]: cores = 0 } = counted;
      expect([parentPath, time, cores]).toEqual([parentPath, time, used[cloud.cores] ?? 0]);
    }
    const last = required(recorded.findLast(({ parentPath }) => parentPath === customer));
    expect(last.used).not.toEqual({});
  });

  test("without times it is the last day until now, in one step, with the unit", async () => {
    const answer = await usage.queryUsage({ parentPath: cloud.org });
    const [start, end] = [answer.fromTime, answer.toTime].map((time) => microsecondsOf(required(time)));
    expect(required(end) - required(start)).toBe(86_400_000_000n);
    const cores = required(answer.series.find(({ kind }) => kind === cloud.cores));
    expect(cores).toMatchObject({ unit: "core", orgPath: "", projectPath: "", servicePath: "", typePath: "" });
    expect(cores.points).toHaveLength(1);
    const used = history.filter(({ orgId }) => pathOf(orgId) === cloud.org);
    const naive = integrate(used, { start: required(start), end: required(end), step: 86_400_000_000n }, () => "");
    expect(pointsOf(answer, () => "")).toEqual(naive);
  });

  test("every protocol answers the same", async () => {
    const period = periodOf(1n);
    const request = {
      parentPath: cloud.org,
      fromTime: timestamp(period.start),
      toTime: timestamp(period.end),
      step: { seconds: 1n },
      groupBy: [PROJECT, RESOURCE_TYPE],
    };
    const expected = await usage.queryUsage(request);
    for (const protocol of protocols) {
      const client = createClient(UsageService, createTransport(protocol, server.url, server.operatorKey));
      expect(await client.queryUsage(request)).toEqual(expected);
    }
  });
});
