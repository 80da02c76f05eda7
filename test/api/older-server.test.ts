import { randomUUID } from "node:crypto";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createApi } from "../support/api.ts";
import { startTestServer } from "../support/test-server.ts";
import { nextRevision } from "../../src/changes/revision.ts";

test("a server from before the write path maintained counts cannot write beside this one", async () => {
  const server = await startTestServer();
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await server.close();
  });
  const api = createApi("Connect", server.url, server.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: "acme" } });
  // Writes what such a server does to create a group: the row, the org's revision, and a line of the change log.
  const id = randomUUID();
  const revision = nextRevision(org.etag);
  await client.query("begin");
  await client.query(
    `insert into groups (customer_id, org_id, id, name, display_name, description, labels, changed_revision)
     select customer_id, id, $2, 'g', 'g', '', '{"a":"b"}', $3 from orgs where id = $1`,
    [org.id, id, revision],
  );
  await client.query("update orgs set revision = $2 where id = $1", [org.id, revision]);
  const logged = client.query(
    `insert into changes (org_id, revision, position, time, method, resource_type, resource_id, resource_path, after)
     values ($1, $3, 0, now(), 'iam.v1alpha.GroupsService/CreateGroup', 'Group', $2, '/orgs/acme/groups/g', '{}')`,
    [org.id, id, revision],
  );
  await expect(logged).rejects.toMatchObject({ code: "23502", column: "format" });
  await client.query("rollback");
});
