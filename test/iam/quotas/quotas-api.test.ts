// Tests quotas over every protocol: what they show, how their limits are set, and what is refused.
import { createClient } from "@connectrpc/connect";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Quota, QuotasService } from "../../../gen/iam/v1alpha/quota_pb.ts";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import type { LedgerPlace } from "../../../src/quotas/levels.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { protocols, overFirst } from "../../support/transports.ts";
import { ledgerOn } from "../../quotas/quota-place.ts";

let server: TestServer;
let sql: SqlClient;
let database: Database;
beforeAll(async () => {
  server = await startTestServer({ limits: { Org: 5, Project: 3, Member: 7 } });
  sql = await openSqlClient(server.databaseUrl);
  database = openDatabase({
    connection: { connectionString: server.databaseUrl },
    maxReadConnections: 1,
    maxWriteConnections: 4,
    onConnectionError: () => {},
  });
  const { transport } = createApi("gRPC", server.url, server.operatorKey);
  for (const name of ["cpu_cores", "ram"]) {
    await createClient(QuantityKindsService, transport).createQuantityKind({ quantityKind: { name, unit: "unit" } });
  }
});
afterAll(async () => {
  await database.close();
  await sql.close();
  await server.close();
});

/** An org with a project, and its customer. */
interface Scene {
  readonly api: Api;
  readonly quotas: ReturnType<typeof createClient<typeof QuotasService>>;
  readonly org: string;
  readonly project: string;
  readonly customer: string;
  readonly place: LedgerPlace;
}

async function openScene(protocol: (typeof protocols)[number] = "gRPC"): Promise<Scene> {
  const api = createApi(protocol, server.url, server.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
  const project = await api.projects.createProject({ parentPath: org.path, project: { name: "shop" } });
  const customer = await api.customers.getCustomer({ path: org.customerPath });
  const place = { customerId: customer.id, orgId: org.id, projectId: project.id };
  const quotas = createClient(QuotasService, api.transport);
  return { api, quotas, org: org.path, project: project.path, customer: customer.path, place };
}

const shown = ({ path, limits, usage, reserved }: Quota) => ({ path, limits, usage, reserved });

async function rest(path: string, method = "GET", body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/iam/v1alpha${path}`, {
    method,
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = (text === "" ? {} : JSON.parse(text)) as Record<string, never> & {
    readonly error?: { readonly message: string; readonly status: string };
  };
  return { status: response.status, etag: response.headers.get("etag") ?? "", answer };
}

test("a kind can have the name of a property that every object has", async () => {
  const { api, quotas, org: parentPath } = await openScene();
  const kinds = createClient(QuantityKindsService, api.transport);
  await kinds.createQuantityKind({ quantityKind: { name: "constructor", unit: "unit" } });
  const update = async (limits: Record<string, number>) =>
    (await quotas.updateQuota({ parentPath, quota: { limits }, updateMask: { paths: ["limits"] } })).limits;
  expect(await update({ constructor: 4 })).toEqual({ constructor: 4 });
  expect(await update({})).toEqual({});
});

describe.each(overFirst(protocols))("over %s", (protocol) => {
  test("the quotas of a customer, an org and a project show limits and usage", async () => {
    const { quotas, org, project, customer, place } = await openScene(protocol);
    const paths = { customer, org, project };
    for (const [index, parentPath] of [customer, org, project].entries()) {
      expect(shown(await quotas.getQuota({ parentPath }))).toEqual({
        path: `${parentPath}/quota`,
        limits: {},
        usage: {},
        reserved: {},
      });
      const limits = { cpu_cores: 10 - index, ram: 0.1 };
      expect((await quotas.updateQuota({ parentPath, quota: { limits } })).limits).toEqual(limits);
    }
    const [ledger, id] = [ledgerOn(database), randomUUID()];
    await ledger.settle(place, id, { cpu_cores: 1.5 });
    await ledger.reserve(place, id, { cpu_cores: 2, ram: 0.1 });
    for (const [index, parentPath] of [paths.customer, paths.org, paths.project].entries()) {
      expect(shown(await quotas.getQuota({ parentPath }))).toEqual({
        path: `${parentPath}/quota`,
        limits: { cpu_cores: 10 - index, ram: 0.1 },
        usage: { cpu_cores: 1.5 },
        reserved: { cpu_cores: 0.5, ram: 0.1 },
      });
    }
  });

  test("a mask selects all limits or one, and a limit that is left out is removed", async () => {
    const { quotas, org: parentPath } = await openScene(protocol);
    const update = async (limits: Record<string, number>, ...paths: string[]) =>
      (await quotas.updateQuota({ parentPath, quota: { limits }, updateMask: { paths } })).limits;
    expect(await update({ cpu_cores: 4, ram: 8 }, "limits")).toEqual({ cpu_cores: 4, ram: 8 });
    expect(await update({ cpu_cores: 5, ram: 9 }, "limits.ram")).toEqual({ cpu_cores: 4, ram: 9 });
    expect(await update({}, "limits.cpu_cores")).toEqual({ ram: 9 });
    expect(await update({ cpu_cores: 1 }, "limits")).toEqual({ cpu_cores: 1 });
    expect(await update({}, "limits")).toEqual({});
    expect((await quotas.getQuota({ parentPath })).limits).toEqual({});
  });

  test("invalid amounts and limits of unknown kinds are refused by name", async () => {
    const { quotas, org: parentPath } = await openScene(protocol);
    const refused = (limits: Record<string, number>) =>
      failureOf(quotas.updateQuota({ parentPath, quota: { limits } }));
    const typo = await refused({ cpu_cors: 4, cpu_cores: 1 });
    expect(typo).toMatchObject({ code: "InvalidArgument", fields: ['quota.limits["cpu_cors"]'] });
    expect(typo.message).toContain("none has this name");
    for (const kind of ["CPU", "cpu-cores", "9lives", "", "a".repeat(64), "é"]) {
      expect((await refused({ [kind]: 1 })).fields).toEqual([`quota.limits[${JSON.stringify(kind)}]`]);
    }
    for (const amount of [-1, -1e-9, 1e25, 1.7976931348623157e308]) {
      const failure = await refused({ cpu_cores: amount });
      expect([amount, failure.fields]).toEqual([amount, ['quota.limits["cpu_cores"]']]);
    }
    for (const amount of [Number.NaN, Infinity, -Infinity]) {
      expect((await refused({ cpu_cores: amount })).code).toBe("InvalidArgument");
    }
    expect((await quotas.getQuota({ parentPath })).limits).toEqual({});
  });

  test("doubles are returned as they were sent", async () => {
    const { quotas, org: parentPath } = await openScene(protocol);
    const amounts = [0, 0.1, 1 / 3, 5e-324, 2 ** 53, 2 ** 53 + 2, 1e21, 1e24, 123_456_789.123_456_78, 0.3 - 0.1];
    for (const amount of amounts) {
      const limits = { cpu_cores: amount };
      expect(
        (await quotas.updateQuota({ parentPath, quota: { limits }, updateMask: { paths: ["limits"] } })).limits,
      ).toEqual(limits);
      expect((await quotas.getQuota({ parentPath })).limits).toEqual(limits);
    }
  });

  test("paths that name no level, or several, are refused", async () => {
    const { quotas, project, place } = await openScene(protocol);
    expect(await failureOf(quotas.getQuota({ parentPath: "orgs/none-such" }))).toMatchObject({ code: "NotFound" });
    expect((await failureOf(quotas.getQuota({ parentPath: "orgs/-" }))).code).toBe("InvalidArgument");
    expect(
      (await failureOf(quotas.updateQuota({ parentPath: `orgs/-/projects/@${place.projectId}`, quota: {} }))).code,
    ).toBe("InvalidArgument");
    const byId = await quotas.getQuota({ parentPath: `orgs/-/projects/@${place.projectId}` });
    expect(byId.path).toBe(`${project}/quota`);
  });
});

describe("over REST,", () => {
  test("a PATCH can have a part of the limits in its body", async () => {
    const { org } = await openScene();
    const first = await rest(`${org}/quota`, "PATCH", { limits: { cpu_cores: 1000, ram: 2 } });
    expect(first).toMatchObject({ status: 200, answer: { path: `${org}/quota`, limits: { cpu_cores: 1000, ram: 2 } } });
    const masked = await rest(`${org}/quota?update_mask=limits.cpu_cores`, "PATCH", { limits: { cpu_cores: 10 } });
    expect(masked.answer["limits"]).toEqual({ cpu_cores: 10, ram: 2 });
    const removed = await rest(`${org}/quota?update_mask=limits.cpu_cores`, "PATCH", {});
    expect(removed.answer["limits"]).toEqual({ ram: 2 });
    expect((await rest(`${org}/quota`)).answer).toEqual({
      path: `${org}/quota`,
      limits: { ram: 2 },
      usage: {},
      reserved: {},
      resource_limits: { projects: 3, members: 7 },
      resource_usage: {
        projects: 1,
        members: 0,
        groups: 0,
        roles: 0,
        roleBindings: 0,
        contacts: 0,
        accessRequests: 0,
        quotaRequests: 0,
        clients: 0,
        identityProviders: 0,
        webhooks: 0,
        eventStreams: 0,
        scimSources: 0,
      },
      etag: expect.stringMatching(/^[0-9a-f]{16}-[0-9a-f]{16}$/) as string,
    });
  });

  test.each([
    ['{"limits": {"cpu_cores": 1e400}}', "cpu_cores"],
    ['{"limits": {"cpu_cores": "many"}}', "cpu_cores"],
    ['{"limits": {"cpu_cores": "NaN"}}', "cpu_cores"],
    ['{"limits": {"cpu_cores": null}}', "cpu_cores"],
    ['{"limits": [1]}', "limits"],
    ['{"limit": {"cpu_cores": 1}}', "limit"],
  ])("%s is refused", async (body, named) => {
    const { org } = await openScene();
    const { status, answer } = await rest(`${org}/quota`, "PATCH", body);
    expect([status, answer.error?.status]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(answer.error?.message).toContain(named);
  });

  test("a number beyond 2^53 is read as the nearest double, and sums of such numbers are exact", async () => {
    const { org, place } = await openScene();
    await rest(`${org}/quota`, "PATCH", '{"limits": {"ram": 9007199254740993}}');
    const ledger = ledgerOn(database);
    await ledger.settle(place, randomUUID(), { ram: 2 ** 53 - 1 });
    await ledger.settle(place, randomUUID(), { ram: 1 });
    await expect(ledger.settle(place, randomUUID(), { ram: 1 })).rejects.toThrow("9007199254740992 are used");
    expect((await rest(`${org}/quota`)).answer).toMatchObject({ limits: { ram: 2 ** 53 }, usage: { ram: 2 ** 53 } });
  });

  test("the etag of a read changes with usage, and that of an update only with limits", async () => {
    const { org, place } = await openScene();
    const { etag } = await rest(`${org}/quota`, "PATCH", { limits: { cpu_cores: 8 } });
    expect((await rest(`${org}/quota`, "GET", undefined, { "if-none-match": etag })).status).toBe(304);
    await ledgerOn(database).reserve(place, randomUUID(), { cpu_cores: 1 });
    expect((await rest(`${org}/quota`, "GET", undefined, { "if-none-match": etag })).status).toBe(200);
    const limits = { cpu_cores: 9 };
    expect((await rest(`${org}/quota`, "PATCH", { limits }, { "if-match": etag })).status).toBe(200);
    const { status, answer } = await rest(`${org}/quota`, "PATCH", { limits }, { "if-match": etag });
    expect([status, answer.error?.message]).toEqual([412, expect.stringContaining("have changed since")]);
    const other = await openScene();
    const elsewhere = await rest(`${other.org}/quota`, "PATCH", { limits }, { "if-match": etag });
    expect(elsewhere.status).toBe(412);
  });
});

describe("writes", () => {
  test("validate_only returns what a real call would, and changes nothing", async () => {
    const { quotas, project: parentPath, place } = await openScene();
    const quota = { limits: { cpu_cores: 3 } };
    expect((await quotas.updateQuota({ parentPath, quota, validateOnly: true })).limits).toEqual(quota.limits);
    expect((await quotas.getQuota({ parentPath })).limits).toEqual({});
    expect(await sql.query("select from quotas where scope_id = $1", [place.projectId])).toEqual([]);
    expect(
      (await failureOf(quotas.updateQuota({ parentPath, quota: { limits: { gpus: 1 } }, validateOnly: true }))).code,
    ).toBe("InvalidArgument");
  });

  test("a repeated request gets the first response", async () => {
    const { quotas, org: parentPath } = await openScene();
    const request = { parentPath, quota: { limits: { cpu_cores: 3 } }, requestId: randomUUID() };
    const first = await quotas.updateQuota(request);
    await quotas.updateQuota({ parentPath, quota: { limits: { cpu_cores: 4 } } });
    expect(await quotas.updateQuota(request)).toEqual(first);
    expect((await quotas.getQuota({ parentPath })).limits).toEqual({ cpu_cores: 4 });
  });

  test("changes are in the change log of the org; those of a customer, in that of the customer", async () => {
    const { quotas, org, project, customer, place } = await openScene();
    for (const parentPath of [project, org, customer]) {
      await quotas.updateQuota({ parentPath, quota: { limits: { cpu_cores: 3, ram: 0.1 } } });
      await quotas.updateQuota({ parentPath, quota: { limits: { cpu_cores: 3, ram: 0.1 } } });
    }
    const lines = await sql.query(
      `select org_id as log, resource_path, resource_id, method, before, after from changes
        where resource_type = 'Quota' and resource_id in ($1, $2, $3) order by changes.time`,
      [place.projectId, place.orgId, place.customerId],
    );
    const before = { limits: {} };
    const after = { limits: { cpu_cores: "3", ram: "0.1" } };
    const method = "iam.v1alpha.QuotasService/UpdateQuota";
    expect(lines).toEqual([
      { log: place.orgId, resource_path: `${project}/quota`, resource_id: place.projectId, method, before, after },
      { log: place.orgId, resource_path: `${org}/quota`, resource_id: place.orgId, method, before, after },
      {
        log: place.customerId,
        resource_path: `${customer}/quota`,
        resource_id: place.customerId,
        method,
        before,
        after,
      },
    ]);
  });

  test("the limits of deleted resources, and those in a suspended org, cannot be changed", async () => {
    const { api, quotas, org, project, place } = await openScene();
    const set = (parentPath: string) => failureOf(quotas.updateQuota({ parentPath, quota: { limits: { ram: 1 } } }));
    await api.projects.deleteProject({ path: project });
    expect(await set(`${org}/projects/@${place.projectId}`)).toMatchObject({ reason: "STATE_FORBIDS" });
    await api.orgs.suspendOrg({ path: org });
    expect(await set(`${org}/projects/@${place.projectId}`)).toMatchObject({ reason: "STATE_FORBIDS" });
    await quotas.updateQuota({ parentPath: org, quota: { limits: { ram: 1 } } });
  });

  test("a kind that has a limit cannot be deleted", async () => {
    const { api, quotas, org: parentPath } = await openScene();
    const kinds = createClient(QuantityKindsService, api.transport);
    const { path } = await kinds.createQuantityKind({ quantityKind: { name: "ports", unit: "port" } });
    await quotas.updateQuota({ parentPath, quota: { limits: { ports: 1 } } });
    const failure = await failureOf(kinds.deleteQuantityKind({ path }));
    expect([failure.reason, failure.message]).toEqual(["RESOURCE_IN_USE", expect.stringContaining("in 1 quota")]);
    await quotas.updateQuota({ parentPath, quota: {}, updateMask: { paths: ["limits"] } });
    await kinds.deleteQuantityKind({ path });
  });

  test("a customer shows its orgs", async () => {
    const { api, quotas, customer } = await openScene();
    await api.orgs.createOrg({ org: { name: uniqueName("second"), customerPath: customer } });
    const { resourceLimits, resourceUsage } = await quotas.getQuota({ parentPath: customer });
    expect([resourceLimits, resourceUsage]).toEqual([{ orgs: 5 }, { orgs: 2 }]);
  });
});
