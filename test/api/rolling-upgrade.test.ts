import pg from "pg";
import { expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import { startTestServer } from "../support/test-server.ts";
import { openWorkplace } from "../support/workplace.ts";
import { writtenResources } from "../support/written-resources.ts";

const tables = new Set(registry.definitions.map(({ storage }) => storage.table));

test("a server continues to work while a newer one adds columns, and fields of operations", async () => {
  const server = await startTestServer();
  const api = createApi("Connect", server.url, server.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: "acme" } });
  const reads: (() => Promise<unknown>)[] = [
    () => api.groupMembers.listGroupMembers({ parentPath: "orgs/-/groups/-" }),
  ];
  for (const resource of writtenResources) {
    const place = await openWorkplace(resource, api, org);
    const name = uniqueName("item");
    await place.makeWay(name);
    const { path } = await place.create(name);
    reads.push(
      () => place.get(path),
      () => place.list(),
    );
  }
  const readAll = () => Promise.all(reads.map((read) => read()));
  // Reads on every connection, so that each has prepared statements.
  const readOften = () => Promise.all(Array.from({ length: rounds(2, 20) }, readAll));
  const before = (await readOften())[0];
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  for (const table of tables) await client.query(`alter table ${table} add column later text not null default 'x'`);
  // A newer server may also know more fields of operations.
  await client.query(
    `update resource_types set operations =
      (select jsonb_agg(operation || '{"later": true}') from jsonb_array_elements(operations) as operation)`,
  );
  await client.end();
  for (const after of await readOften()) expect(after).toEqual(before);
  await server.close();
});
