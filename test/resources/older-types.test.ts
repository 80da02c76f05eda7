// Types from before Quantities were counted by default, and from before patterns had to be without look-around.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Cloud, openCloud } from "./cloud.ts";

let server: TestServer;
let sql: SqlClient;
let cloud: Cloud;
beforeAll(async () => {
  server = await startTestServer();
  sql = await openSqlClient(server.databaseUrl);
  cloud = await openCloud("Connect", server.url, server.operatorKey);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

type Quantities = readonly { kind: string; counted?: boolean }[];

const operationsWith = (quantities: Quantities) => [
  { verb: "create", quantities: [...quantities] },
  { verb: "delete" },
];

async function createType(quantities: Quantities): Promise<string> {
  const name = uniqueName("type");
  const resourceType = { name, collection: name, operations: operationsWith(quantities) };
  return (await cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType })).path;
}

/** Stores a type as it was stored before. */
async function makeOlder(path: string, columns: Readonly<Record<string, unknown>>): Promise<void> {
  const name = path.split("/").at(-1);
  for (const [column, value] of Object.entries(columns)) {
    await sql.query(`update resource_types set ${column} = $1 where name = $2`, [JSON.stringify(value), name]);
  }
}

const countedOf = async (path: string): Promise<unknown[]> => {
  const { operations } = await cloud.types.getResourceType({ path });
  return operations.flatMap(({ quantities }) => quantities.map(({ kind, counted }) => [kind, counted]));
};

const createWith = (typePath: string, quantities: Record<string, number>) =>
  cloud.create(uniqueName("vm"), 0, { typePath, quantities });

/** What the org has reserved and used of a kind. */
async function heldOf(kind: string): Promise<number> {
  const quotas = createClient(QuotasService, createTransport("Connect", server.url, server.operatorKey));
  const { usage, reserved } = await quotas.getQuota({ parentPath: cloud.org });
  return (usage[kind] ?? 0) + (reserved[kind] ?? 0);
}

/** Starts another server on the database, and returns a line of its log. */
async function logOfStart(message: string): Promise<unknown> {
  const next = await startTestServer({ databaseUrl: server.databaseUrl });
  onTestFinished(() => next.close());
  const find = () => next.logLines.find((line) => line.includes(message));
  await expect.poll(find).toBeDefined();
  return JSON.parse(find() ?? "");
}

describe("a Quantity of a type", () => {
  test("counts unless it says that it does not", async () => {
    const { cores, ram } = cloud;
    const path = await createType([{ kind: cores }, { kind: ram, counted: false }]);
    expect(await countedOf(path)).toEqual([
      [cores, true],
      [ram, false],
    ]);
    const before = await heldOf(cores);
    await createWith(path, { [cores]: 2, [ram]: 1024 });
    expect([(await heldOf(cores)) - before, await heldOf(ram)]).toEqual([2, 0]);
  });

  test("keeps what it was if an update does not say, and one of another kind counts", async () => {
    const { cores, ram } = cloud;
    const path = await createType([{ kind: cores, counted: false }]);
    const operations = operationsWith([{ kind: cores }, { kind: ram }]);
    await cloud.types.updateResourceType({ path, resourceType: { operations } });
    expect(await countedOf(path)).toEqual([
      [cores, false],
      [ram, true],
    ]);
    await cloud.types.updateResourceType({
      path,
      resourceType: { operations: operationsWith([{ kind: cores, counted: true }]) },
    });
    expect(await countedOf(path)).toEqual([[cores, true]]);
  });

  test("that was stored before counts as it did, and the log of a start names types that count nothing", async () => {
    const { cores } = cloud;
    const path = await createType([{ kind: cores }]);
    await makeOlder(path, { operations: operationsWith([{ kind: cores }]) });
    const partly = await createType([{ kind: cores }]);
    await makeOlder(partly, { operations: operationsWith([{ kind: cores, counted: true }, { kind: cloud.ram }]) });
    expect(await countedOf(path)).toEqual([[cores, false]]);
    const before = await heldOf(cores);
    await createWith(path, { [cores]: 3 });
    expect(await heldOf(cores)).toBe(before);
    // A client of before leaves it out, and so do those that give only what they change.
    await cloud.types.updateResourceType({
      path,
      resourceType: { displayName: "Older", operations: operationsWith([{ kind: cores }]) },
    });
    expect(await countedOf(path)).toEqual([[cores, false]]);
    await makeOlder(path, { operations: operationsWith([{ kind: cores }]) });
    expect(await logOfStart("count nothing against quotas")).toMatchObject({ types: [path], count: 1 });
  });
});

describe("a schema that was stored before, with a pattern that is not accepted now", () => {
  test("leaves its resources readable and deletable, lets none be created, and the errors and the log name the type and the pattern", async () => {
    const typePath = await createType([]);
    const schema = { type: "object", properties: { zone: { type: "string", pattern: "^(?!b)" } } };
    const given = { typePath, quantities: {} };
    await cloud.types.updateResourceType({ path: typePath, resourceType: { parametersSchema: { type: "object" } } });
    const { resourcePath: path } = await cloud.create(uniqueName("vm"), 0, { ...given, parameters: { zone: "a" } });
    // The operations of other resources have waited for longer.
    while ((await cloud.complete()).resourcePath !== path);
    await makeOlder(typePath, { parameters_schema: schema });
    // A server of its own, as after an upgrade.
    const next = await startTestServer({ databaseUrl: server.databaseUrl });
    onTestFinished(() => next.close());
    const { api: _api, ...later } = await openCloud("Connect", next.url, server.operatorKey);
    expect((await later.resources.getResource({ path })).parameters).toEqual({ zone: "a" });
    for (const parameters of [{ zone: "a" }, undefined]) {
      const refused = later.resources.createResource({
        parentPath: cloud.project,
        resource: { name: uniqueName("vm"), ...given, parameters },
      });
      const failure = await failureOf(refused);
      expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["resource.parameters"] });
      expect(failure.message).toContain(`the parameters_schema of ${typePath}`);
      expect(failure.message).toContain('"^(?!b)"');
    }

    const problem = expect.stringContaining('#/properties/zone/pattern: the pattern "^(?!b)"') as string;
    const find = () => next.logLines.find((line) => line.includes("no resources of this type can be created until"));
    await expect.poll(find).toBeDefined();
    expect(JSON.parse(find() ?? "")).toMatchObject({ type: typePath, problem });

    await later.types.updateResourceType({ path: typePath, resourceType: { displayName: "Older" } });
    expect((await later.resources.deleteResource({ path })).verb).toBe("delete");
  });
});
