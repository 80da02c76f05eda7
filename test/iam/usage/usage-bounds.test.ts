// Tests who may ask for usage and what of, what is refused, and what is shown of what is gone.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QueryUsageRequest_Dimension as Dimension, UsageService } from "../../../gen/iam/v1alpha/usage_pb.ts";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { required } from "../../../src/errors/required.ts";
import { type QueryUsage, createQueryUsage, usageLimits } from "../../../src/iam/usage/query-usage.ts";
import { openCompany } from "../../access/callers.ts";
import { type Cloud, openCloud } from "../../resources/cloud.ts";
import { uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { createTransport } from "../../support/transports.ts";

let server: SharedServer;
let sql: SqlClient;
let database: Database;
let cloud: Cloud;
let usage: Client<typeof UsageService>;

beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  database = openDatabase({
    connection: { connectionString: server.databaseUrl },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  cloud = await openCloud("gRPC", server.url, server.operatorKey);
  usage = usageAs(server.operatorKey);
  await cloud.create("first", 2);
  await cloud.complete();
});
afterAll(async () => {
  await database.close();
  await sql.close();
});

const usageAs = (key: string, protocol: "gRPC" | "REST" = "gRPC") =>
  createClient(UsageService, createTransport(protocol, server.url, key));

const at = (time: string) => timestampFromDate(new Date(time));

const { PROJECT, SERVICE, RESOURCE_TYPE } = Dimension;

describe("is refused with the field:", () => {
  const [march, april] = [at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z")];
  test.each([
    ["an end in the future", { toTime: at("2200-01-01T00:00:00Z") }, "to_time", "must not be in the future"],
    ["an end before the start", { fromTime: april, toTime: march }, "to_time", "must be after from_time"],
    ["an end at the start", { fromTime: march, toTime: march }, "to_time", "must be after from_time"],
    ["a start before 1970", { fromTime: at("1969-12-31T23:59:59Z") }, "from_time", "must be in 1970 or later"],
    ["a start that is no time", { fromTime: { seconds: 1n, nanos: 1e9 } }, "from_time", "must be a time"],
    ["too short a step", { step: { seconds: 0n } }, "step", "1s"],
    ["half a second", { step: { seconds: 1n, nanos: 5e8 } }, "step", "must be a number of whole seconds"],
    ["more than 1,000 steps", { step: { seconds: 86n } }, "step", "must be at least 87s here"],
    ["a group twice", { groupBy: [PROJECT, PROJECT] }, "group_by", "unique"],
    ["no group", { groupBy: [Dimension.DIMENSION_UNSPECIFIED] }, "group_by[0]", "must be one of ORG, "],
    ["an unknown group", { groupBy: [99 as Dimension] }, "group_by[0]", "must be one of ORG, "],
  ])("%s", async (_, request, field, description) => {
    const failure = await failureOf(usage.queryUsage({ parentPath: cloud.org, ...request }));
    expect(failure).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID", fields: [field] });
    expect(failure.message).toContain(description);
  });

  test("1,000 steps are not, nor is one that is longer than the period", async () => {
    const lengths = async (seconds: bigint) => {
      const { series } = await usage.queryUsage({ parentPath: cloud.org, step: { seconds } });
      return series.map(({ points }) => points.length);
    };
    expect(await lengths(87n)).toEqual([994, 994]);
    expect(await lengths(9_223_372_036_854_775_807n)).toEqual([1, 1]);
  });
});

describe("a caller", () => {
  test("with a role that reads may ask of where it has it, and of nothing above", async () => {
    const { api, org, project } = cloud;
    const { path: subjectPath } = await api.members.createMember({ parentPath: org, member: { name: "reader" } });
    const roleBinding = { name: uniqueName("reads"), rolePath: "/roles/viewer", subjectPath };
    await api.roleBindings.createRoleBinding({ parentPath: project, roleBinding });
    const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "key" } });
    const reader = usageAs(required(secret));
    expect((await reader.queryUsage({ parentPath: project })).series).not.toEqual([]);
    const { customerPath } = await api.orgs.getOrg({ path: org });
    for (const parentPath of [org, customerPath]) {
      expect(await failureOf(reader.queryUsage({ parentPath }))).toMatchObject({ code: "PermissionDenied" });
    }
  });

  test("that has lost the permission while it waited is refused", async () => {
    const { api, org } = cloud;
    const { path: subjectPath } = await api.members.createMember({ parentPath: org, member: { name: "leaver" } });
    const roleBinding = { name: uniqueName("reads"), rolePath: "/roles/viewer", subjectPath };
    const { path } = await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "key" } });
    const leaver = usageAs(required(secret));
    await leaver.queryUsage({ parentPath: org });
    await sql.query("begin");
    await sql.query("lock table usage_sums, resources in access exclusive mode");
    const failure = failureOf(leaver.queryUsage({ parentPath: org }));
    try {
      const waiting =
        "select from pg_locks where not granted and relation in ('resources'::regclass, 'usage_sums'::regclass)";
      await expect.poll(() => sql.query(waiting)).not.toEqual([]);
      await api.roleBindings.deleteRoleBinding({ path });
    } finally {
      await sql.query("rollback");
    }
    expect(await failure).toMatchObject({ code: "PermissionDenied" });
  });

  test.each(["gRPC", "REST"] as const)(
    "of another customer gets the same over %s as if nothing was there",
    async (protocol) => {
      const company = await openCompany("gRPC", server);
      const owner = await company.joinAs("owner");
      const stranger = usageAs(owner.key, protocol);
      const ask = async (parentPath: string) => {
        const { requestId: _, message, metadata, ...failure } = await failureOf(stranger.queryUsage({ parentPath }));
        const without = (text: string) => text.replaceAll(parentPath, "<path>");
        return { ...failure, message: without(message), metadata: without(JSON.stringify(metadata)) };
      };
      const { customerPath } = await cloud.api.orgs.getOrg({ path: cloud.org });
      expect(await ask(cloud.org)).toMatchObject({ code: "PermissionDenied" });
      expect(await ask(cloud.org)).toEqual(await ask("/orgs/no-such-org"));
      expect(await ask(cloud.project)).toEqual(await ask("/orgs/no-such-org/projects/web"));
      expect(await ask(customerPath)).toEqual(await ask("/customers/no-such-customer"));
      // Nothing of it is in what it may ask about.
      expect((await stranger.queryUsage({ parentPath: company.org.path, groupBy: [PROJECT] })).series).toEqual([]);
    },
  );
});

test("a resource is there while it is suspended with its project", async () => {
  const { api, servicePath, cores, provider, types } = cloud;
  const operations = [
    { verb: "create", quantities: [{ kind: cores, counted: true }] },
    ...["delete", "suspend", "resume"].map((verb) => ({ verb })),
  ];
  const resourceType = { name: "nodes", collection: "nodes", operations };
  const { path: typePath } = await types.createResourceType({ parentPath: servicePath, resourceType });
  const { path: parentPath } = await api.projects.createProject({ parentPath: cloud.org, project: { name: "paused" } });
  await cloud.resources.createResource({ parentPath, resource: { name: "n", typePath, quantities: { [cores]: 3 } } });
  await cloud.complete();
  await api.projects.suspendProject({ path: parentPath });
  const { claims } = await provider.claimOperations({ servicePath, wait: { seconds: 20n } });
  const [claim] = claims;
  expect(claim?.operation?.verb).toBe("suspend");
  await provider.completeOperation(cloud.present(required(claim)));
  const { series } = await usage.queryUsage({ parentPath });
  expect(series.map(({ points }) => points[0])).toMatchObject([{ amount: "3", maximum: "3" }]);
});

test("what is gone is shown by ids, and what it consumed stays", async () => {
  const { api, cores } = cloud;
  const own = await openCloud("gRPC", server.url, server.operatorKey);
  const { path: parentPath, id } = await api.projects.createProject({
    parentPath: cloud.org,
    project: { name: "brief" },
  });
  const resource = { name: "gone", typePath: own.typePath, quantities: { [own.cores]: 2 } };
  const { resourcePath: path } = await own.resources.createResource({ parentPath, resource });
  await own.complete();
  await own.resources.deleteResource({ path });
  await own.complete();
  const { id: typeId } = await own.types.getResourceType({ path: own.typePath });
  const { id: serviceId } = await own.services.getService({ path: own.servicePath });
  await own.types.deleteResourceType({ path: own.typePath });
  await own.services.deleteService({ path: own.servicePath });
  await api.projects.deleteProject({ path: parentPath });
  const groupBy = [PROJECT, SERVICE, RESOURCE_TYPE];
  const { series } = await usage.queryUsage({ parentPath: cloud.org, groupBy });
  const ofGone = series.filter(({ kind }) => kind === own.cores);
  expect(ofGone).toMatchObject([
    {
      projectPath: `${cloud.org}/projects/@${id}`,
      servicePath: `/services/@${serviceId}`,
      typePath: `/services/@${serviceId}/resourceTypes/@${typeId}`,
      points: [{ amount: "0", maximum: "2" }],
    },
  ]);
  expect(Number(ofGone[0]?.points[0]?.amountSeconds)).toBeGreaterThan(0);
  // By the type alone it has the same service.
  const ofTypes = (await usage.queryUsage({ parentPath: cloud.org, groupBy: [RESOURCE_TYPE] })).series;
  expect(ofTypes.find(({ kind }) => kind === own.cores)).toMatchObject({
    servicePath: "",
    typePath: ofGone[0]?.typePath,
  });
  expect(ofTypes.map(({ kind }) => kind)).toContain(cores);
});

test("a resource without an amount makes no series", async () => {
  const { path: parentPath } = await cloud.api.projects.createProject({
    parentPath: cloud.org,
    project: { name: "empty" },
  });
  const { servicePath, cores: kind } = cloud;
  const operations = [
    { verb: "create", quantities: [{ kind, counted: true }] },
    ...["delete", "suspend", "resume"].map((verb) => ({ verb })),
  ];
  const resourceType = { name: "shells", collection: "shells", operations };
  const { path: typePath } = await cloud.types.createResourceType({ parentPath: servicePath, resourceType });
  await cloud.resources.createResource({ parentPath, resource: { name: "none", typePath, quantities: { [kind]: 0 } } });
  await cloud.complete();
  expect((await usage.queryUsage({ parentPath })).series).toEqual([]);
});

test("an org whose log is being removed counts not at all, rather than in part", async () => {
  const own = await openCloud("gRPC", server.url, server.operatorKey);
  const { resourcePath: path } = await own.create("early", 2);
  await own.complete();
  await own.resources.deleteResource({ path });
  await own.complete();
  const { id, customerPath: parentPath } = await own.api.orgs.getOrg({ path: own.org });
  const kinds = async () => (await usage.queryUsage({ parentPath })).series.map(({ kind }) => kind);
  expect(await kinds()).toContain(own.cores);
  await own.api.orgs.createOrg({ org: { name: uniqueName("stays"), customerPath: parentPath } });
  await own.api.orgs.deleteOrg({ path: own.org });
  // The purge may be faster, and then all of it is gone.
  await sql.query("update orgs set purge_time = now() where id = $1", [id]);
  await sql.query("delete from changes where org_id = $1 and resource_type = 'Resource' and after is not null", [id]);
  expect(await kinds()).not.toContain(own.cores);
});

test("an org that is older than the log is known since the log begins, and a younger one since ever", async () => {
  const company = await openCompany("gRPC", server);
  const parentPath = company.org.path;
  const ask = (time: string) => usage.queryUsage({ parentPath, fromTime: at(time) });
  expect((await ask("2000-01-01T00:00:00Z")).series).toEqual([]);
  const ofYounger = await usage.queryUsage({ parentPath: cloud.org, fromTime: at("2000-01-01T00:00:00Z") });
  expect(ofYounger.series.length).toBeGreaterThan(0);
  await sql.query("update orgs set create_time = '2001-01-01' where id = $1", [company.org.id]);
  const [row] = await sql.query(
    `select to_char(to_date(min(substr(relname, 9)), 'YYYY_MM'), 'YYYY-MM-DD"T00:00:00.000000Z"') as oldest
      from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'changes'::regclass`,
  );
  const oldest = String(row?.["oldest"]);
  const failure = await failureOf(ask("2000-01-01T00:00:00Z"));
  expect(failure).toMatchObject({ code: "OutOfRange", reason: "REVISION_EXPIRED", metadata: { oldest_time: oldest } });
  expect(failure.message).toContain(`the oldest is ${oldest}`);
  expect((await ask(oldest)).series).toEqual([]);
});

describe("a question that is too large", () => {
  const ask = async (
    limits: Partial<typeof usageLimits>,
    step?: number,
    timeoutMs?: number,
    of: Pick<Database, "reads" | "writes"> = database,
    start?: number,
  ): ReturnType<QueryUsage> => {
    const [org] = await sql.query("select id, customer_id from orgs where name = $1", [cloud.org.slice(6)]);
    const [id, customerId] = [String(org?.["id"]), String(org?.["customer_id"])];
    const [system] = await sql.query("select id from orgs where name = 'system'");
    const installation = { systemOrgId: String(system?.["id"]) };
    const query = createQueryUsage({ database: of, installation }, { ...usageLimits, ...limits });
    const dimensions = { org: false, project: false, service: false, type: false };
    const asked = { start, end: undefined, step };
    const scope = { kind: "org", id, customerId, orgId: id } as const;
    const { signal } = new AbortController();
    return query({ orgId: id, signal, timeoutMs: () => timeoutMs }, { scope, asked, dimensions });
  };

  test("has more points than an answer may have, and is told what helps", async () => {
    const { groups } = await ask({ maxPoints: 1_000 });
    expect(groups.length).toBeGreaterThan(1);
    expect((await ask({ maxPoints: groups.length * 48 }, 1_800e6)).groups).toHaveLength(groups.length);
    await expect(ask({ maxPoints: groups.length * 48 - 1 }, 1_800e6)).rejects.toMatchObject({
      reason: "FIELD_INVALID",
    });
    await expect(ask({ maxPoints: 48 }, 1_800e6)).rejects.toMatchObject({
      reason: "FIELD_INVALID",
      violations: [{ field: "group_by", description: expect.stringContaining("more than 1 series of 48 steps") }],
    });
  });

  test("has more than 10,000 points over the API", async () => {
    const own = await openCloud("gRPC", server.url, server.operatorKey);
    for (let n = 0; n < 5; n++) {
      const { path: parentPath } = await own.api.projects.createProject({
        parentPath: own.org,
        project: { name: `p${n}` },
      });
      const quantities = { [own.cores]: 1 };
      await own.resources.createResource({ parentPath, resource: { name: "one", typePath: own.typePath, quantities } });
      await own.complete();
    }
    const request = { parentPath: own.org, step: { seconds: 87n }, groupBy: [PROJECT] };
    expect((await usage.queryUsage(request)).series).toHaveLength(10);
    await own.create("last", 1);
    await own.complete();
    const failure = await failureOf(usage.queryUsage(request));
    expect(failure).toMatchObject({ reason: "FIELD_INVALID", fields: ["group_by"] });
    expect(failure.message).toContain("more than 10 series of 994 steps");
  });

  test("is refused if the log was cut while it was read", async () => {
    const [org] = await sql.query("select id, create_time::text as created from orgs where name = $1", [
      cloud.org.slice(6),
    ]);
    const reads = new Proxy(database.reads, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (name !== "transaction") return typeof member === "function" ? member.bind(target) : member;
        // The org is older than the log from here on.
        const execute: Transactions["execute"] = async (run) => {
          await setAge(org?.["id"], "2001-01-01");
          return target.transaction().setIsolationLevel("repeatable read").execute(run);
        };
        return () => ({ setIsolationLevel: () => ({ setAccessMode: () => ({ execute }) }) });
      },
    });
    const failed = ask({}, undefined, undefined, { reads, writes: database.writes }, 1e12);
    const refused = expect(failed).rejects.toMatchObject({ reason: "REVISION_EXPIRED" });
    await refused.finally(() => setAge(org?.["id"], org?.["created"]));
  });

  type Transactions = ReturnType<Database["reads"]["transaction"]>;

  const setAge = (id: unknown, time: unknown) =>
    sql.query("update orgs set create_time = $2 where id = $1", [id, time]);

  const tooLong = {
    reason: "DEADLINE_EXCEEDED",
    message: expect.stringContaining("ask for a later from_time"),
  };

  test("takes too long, and is DEADLINE_EXCEEDED", async () => {
    await expect(ask({ ending: () => AbortSignal.abort() })).rejects.toMatchObject(tooLong);
  });

  test("takes the database longer than the call has, and is the same", async () => {
    await sql.query("begin");
    await sql.query("lock table resources in access exclusive mode");
    const failed = expect(ask({}, undefined, 1_000)).rejects.toMatchObject(tooLong);
    await failed.finally(() => sql.query("rollback"));
  });
});
