// Tests claims that name the types, verbs and routing keys of the operations that they take.
import type { JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Claimable, readDue } from "../../src/resources/providers/claims.ts";
import { required } from "../../src/errors/required.ts";
import { createPlanReader } from "../standard-methods/read-plan.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

let server: TestServer;
let second: TestServer;
let sql: SqlClient;
let cloud: Cloud;
let elsewhere: ResourcesApi;
/** Types of the service whose resources have a zone. */
let volumes: string;
let networks: string;

beforeAll(async () => {
  server = await startTestServer();
  second = await startTestServer({ databaseUrl: server.databaseUrl });
  sql = await openSqlClient(server.databaseUrl);
  cloud = await openCloud("gRPC", server.url, server.operatorKey);
  elsewhere = createResourcesApi("REST", second.url, server.operatorKey);
  const inZones = async (name: string): Promise<string> => {
    const resourceType = {
      name,
      collection: name,
      routingParameter: "zone",
      parametersSchema: { type: "object", properties: { zone: {} } },
      operations: [{ verb: "create" }, { verb: "grow" }, { verb: "delete" }],
    };
    const { path } = await cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType });
    return path;
  };
  volumes = await inZones("volumes");
  networks = await inZones("networks");
});
afterAll(async () => {
  await sql.close();
  await second.close();
  await server.close();
});

const create = (typePath: string, zone?: JsonValue) =>
  cloud.resources.createResource({
    parentPath: cloud.project,
    resource: { name: uniqueName("r"), typePath, ...(zone !== undefined && { parameters: { zone } }) },
  });

/** Returns the names of the resources whose operations a claim gets, and completes these. */
async function claimed(wanted: object, { provider } = cloud as ResourcesApi): Promise<string[]> {
  const { servicePath } = cloud;
  const { claims } = await provider.claimOperations({ servicePath, maxOperations: 100, ...wanted });
  for (const claim of claims) await provider.completeOperation(cloud.present(claim));
  return claims.map(({ operation }) => required(operation).resourcePath);
}

describe("a claim", () => {
  test("gets the operations of its routing keys, its types and its verbs, those that wait longest first", async () => {
    const started = [];
    for (const [type, zone] of [
      [volumes, "a"],
      [networks, "b"],
      [volumes, "b"],
      [networks, "a"],
      [volumes, undefined],
    ] as const) {
      started.push(await create(type, zone));
    }
    expect(started.map(({ routingKey }) => routingKey)).toEqual(["a", "b", "b", "a", ""]);
    const paths = started.map(({ resourcePath }) => resourcePath);
    expect(await claimed({ verbs: ["delete", "grow"] })).toEqual([]);
    expect(await claimed({ routingKeys: ["c"] })).toEqual([]);
    expect(await claimed({ routingKeys: ["b", "b"], verbs: ["create"], maxOperations: 1 })).toEqual([paths[1]]);
    expect(await claimed({ routingKeys: ["a", "b"], typePaths: [volumes] })).toEqual([paths[0], paths[2]]);
    expect(await claimed({ typePaths: [networks, networks] })).toEqual([paths[3]]);
    expect(await claimed({ routingKeys: [""] })).toEqual([paths[4]]);
    expect(await claimed({})).toEqual([]);
  });

  test("without a route gets all operations", async () => {
    const paths = [(await create(volumes, "a")).resourcePath, (await create(networks)).resourcePath];
    expect(await claimed({})).toEqual(paths);
  });

  test("waits for an operation of its route only", async () => {
    const waiting = claimed({ routingKeys: ["late"], wait: { seconds: 20n } }, elsewhere);
    const other = await create(volumes, "early");
    const own = await create(volumes, "late");
    expect(await waiting).toEqual([own.resourcePath]);
    expect(await claimed({})).toEqual([other.resourcePath]);
  });

  test("keeps its lease when the type is routed in another way, and expired ones are claimed by their key", async () => {
    const { resourcePath } = await create(volumes, "held");
    const { servicePath, provider } = cloud;
    const claimDuration = { seconds: 60n };
    const { claims } = await provider.claimOperations({ servicePath, claimDuration, routingKeys: ["held"] });
    const claim = required(claims[0]);
    const route = (routingParameter: string) =>
      cloud.types.updateResourceType({ path: volumes, resourceType: { routingParameter }, updateMask: maskOfRoute });
    await route("");
    await provider.renewOperation({ ...cloud.present(claim), claimDuration });
    // Expired: only a claim with its key gets it, and the earlier lease is void.
    await sql.query("update operations set next_attempt_time = now() where id = $1", [required(claim.operation).id]);
    expect(await claimed({ routingKeys: ["", "other"] })).toEqual([]);
    expect(await claimed({ routingKeys: ["held"] }, elsewhere)).toEqual([resourcePath]);
    expect(await failureOf(provider.completeOperation(cloud.present(claim)))).toMatchObject({ reason: "CLAIM_VOID" });
    // Operations that start from now on have no key.
    await cloud.resources.runResource({ path: resourcePath, operation: "grow" });
    expect(await claimed({ routingKeys: ["held"] })).toEqual([]);
    expect(await claimed({ routingKeys: [""] })).toEqual([resourcePath]);
    await route("zone");
  });

  test("of two providers on two servers gets each operation of its zone once, and none of the other zone", async () => {
    const zones = ["x", "y"];
    const started = await Promise.all(
      Array.from({ length: 24 }, async (_, turn) => {
        const { resourcePath } = await create(volumes, zones[turn % 2]);
        return `${zones[turn % 2]} ${resourcePath}`;
      }),
    );
    const taken = await Promise.all(
      [cloud, elsewhere, cloud, elsewhere].map(async (client, turn) => {
        const zone = required(zones[turn < 2 ? 0 : 1]);
        const own: string[] = [];
        for (let empty = 0; empty < 3;) {
          const paths = await claimed({ routingKeys: [zone], maxOperations: 2 }, client);
          if (paths.length === 0) empty++;
          own.push(...paths.map((path) => `${zone} ${path}`));
        }
        return own;
      }),
    );
    expect(taken.flat().toSorted()).toEqual(started.toSorted());
  });

  test("refuses types of other services, and routing keys and verbs that cannot be", async () => {
    const { servicePath, provider } = cloud;
    const other = await openCloud("gRPC", server.url, server.operatorKey);
    const typePaths = [volumes, other.typePath, `${servicePath}/resourceTypes/none`];
    expect(await failureOf(provider.claimOperations({ servicePath, typePaths }))).toMatchObject({
      code: "InvalidArgument",
      fields: ["type_paths[1]", "type_paths[2]"],
    });
    const verbs = ["create", "Not A Verb"];
    expect(await failureOf(provider.claimOperations({ servicePath, verbs }))).toMatchObject({ fields: ["verbs[1]"] });
  });
});

const maskOfRoute = { paths: ["routing_parameter"] };

test.each([["with space"], [""], ["a".repeat(64)], [7], [{ a: 1 }]])("a zone cannot be %j", async (zone) => {
  expect(await failureOf(create(volumes, zone))).toMatchObject({
    code: "InvalidArgument",
    fields: ["resource.parameters.zone"],
  });
});

test("a claim reads what it gets, however many operations of other routes wait", async () => {
  const { resourcePath } = await create(volumes, "rare");
  const [one] = await sql.query("select service_id, type_id from operations where routing_key = 'rare'");
  const { service_id: serviceId, type_id: typeId } = one as { service_id: string; type_id: string };
  // Those of the other zone have waited longer, and are of another type.
  await sql.query(`
    insert into operations (customer_id, org_id, project_id, id, resource_id, service_id, type_id, routing_key, verb, state, quantities,
      given_quantities, qualities, given_qualities, outputs, reference_ids, progress_percent, progress_message, cancel_requested,
      error_reason, error_message, next_attempt_time, changed_revision)
    select customer_id, org_id, project_id, gen_random_uuid(), gen_random_uuid(), service_id, gen_random_uuid(), 'common', verb, state, '{}', '{}',
      '{}', '{}', '{}', '{}', 0, '', false, '', '', now() - interval '1 hour', changed_revision
    from operations, generate_series(1, 5000) where routing_key = 'rare'`);
  await sql.query("analyze operations");
  const reader = createPlanReader(server.databaseUrl);
  const any = { serviceId, typeIds: [], verbs: [], routingKeys: [], withGuarded: true };
  const routes: readonly Claimable[] = [
    { ...any, routingKeys: ["rare", "none"] },
    { ...any, typeIds: [typeId] },
    { ...any, routingKeys: ["rare"], typeIds: [typeId], verbs: ["create"] },
    any,
    { ...any, withGuarded: false },
  ];
  for (const claimable of routes) {
    const search = { claimable, now: new Date().toISOString(), count: 5, leftOut: [] };
    const { plan } = await reader.read((db) => readDue(db, search));
    // The few rows of customers that require approvals may be read in turn, up to the first one.
    expect(
      plan.scannedTables.filter((table) => table !== "guarding_orgs"),
      plan.text,
    ).toEqual([]);
    expect(plan.rowsRead, plan.text).toBeLessThan(60);
  }
  await reader.close();
  await sql.query("delete from operations where routing_key = 'common'");
  await sql.query("update operations set attempts = 0, next_attempt_time = now() where routing_key = 'rare'");
  expect(await claimed({ routingKeys: ["rare"] })).toEqual([resourcePath]);
});
