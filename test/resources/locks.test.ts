// Writes that meet: each waits for the other in one order, and sees what it has done.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { createTransport } from "../support/transports.ts";
import { type Cloud, openCloud } from "./cloud.ts";

let server: SharedServer;
let sql: SqlClient;
let other: SqlClient;
let cloud: Cloud;

beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  other = await openSqlClient(server.databaseUrl);
  cloud = await openCloud("REST", server.url, server.operatorKey);
});
afterAll(async () => {
  await other.close();
  await sql.close();
});

/** Waits until a transaction of the server waits for a lock of `sql`. */
async function untilBlocked(): Promise<void> {
  const [row] = await sql.query("select pg_backend_pid() as pid");
  const query = "select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))";
  await expect.poll(() => other.query(query, [row?.["pid"]])).not.toEqual([]);
}

const newKind = async (): Promise<string> => {
  const name = uniqueName("kind");
  await cloud.quantityKinds.createQuantityKind({ quantityKind: { name, unit: "piece" } });
  return name;
};

test("a resource in the org system locks the org before its customer, as writes to customers do", async () => {
  const parentPath = "/orgs/system";
  const project = await cloud.api.projects.createProject({ parentPath, project: { name: uniqueName("own") } });
  await sql.query("begin");
  const [org] = await sql.query("select customer_id from orgs where name = 'system' for no key update");
  const resource = { name: "db", typePath: cloud.typePath, quantities: { [cloud.cores]: 1 } };
  const creating = cloud.resources.createResource({ parentPath: project.path, resource });
  await untilBlocked();
  const locked = await sql
    .query("select id from customers where id = $1 for no key update nowait", [org?.["customer_id"]])
    .catch((error: unknown) => error);
  await sql.query("rollback");
  await creating;
  expect(locked).toHaveLength(1);
});

test("a limit of a kind that is deleted at the same time is refused", async () => {
  const kind = await newKind();
  await sql.query("begin");
  await sql.query("delete from quantity_kinds where name = $1", [kind]);
  const quotas = createClient(QuotasService, createTransport("REST", server.url, server.operatorKey));
  const failure = failureOf(quotas.updateQuota({ parentPath: cloud.org, quota: { limits: { [kind]: 1 } } }));
  await untilBlocked();
  await sql.query("commit");
  expect(await failure).toMatchObject({ code: "InvalidArgument", fields: [`quota.limits["${kind}"]`] });
});

test("a kind whose limit is set at the same time is not deleted", async () => {
  const kind = await newKind();
  const [org] = await sql.query("select customer_id, id from orgs where name = $1", [cloud.org.replace("/orgs/", "")]);
  await sql.query("begin");
  await sql.query(
    "insert into quotas (customer_id, org_id, scope_id, kind, maximum, used, reserved) values ($1, $2, $2, $3, 1, 0, 0)",
    [org?.["customer_id"], org?.["id"], kind],
  );
  const failure = failureOf(cloud.quantityKinds.deleteQuantityKind({ path: `/quantityKinds/${kind}` }));
  await untilBlocked();
  await sql.query("commit");
  expect(await failure).toMatchObject({ code: "FailedPrecondition", reason: "RESOURCE_IN_USE" });
});
