// Tests the logs of customers themselves: what is in them, that they prove themselves, and that no customer waits for another one's.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  type Change,
  ChangeSchema,
  Change_Type,
  Change_View,
  ChangesHeadSchema,
} from "../../gen/iam/v1alpha/change_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { verifyFile } from "../../src/cli/verify-file.ts";
import { openCompany } from "../access/callers.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
let sql: SqlClient;
let api: Api;
beforeAll(async () => {
  server = await startTestServer({ purgeIntervalMs: 100, retentionDays: 0 });
  sql = await openSqlClient(server.databaseUrl);
  api = createApi("gRPC", server.url, server.operatorKey);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

/** Returns the changes that are in no log of an org, with those that are in the org `system`, the earliest first. */
async function logOf(parentPath: string): Promise<Change[]> {
  const { changes } = await api.changes.listChanges({ parentPath, orderBy: "time", view: Change_View.PROVED });
  return changes.filter(({ resourceType }) => ["Customer", "Quota", "ChangeLog"].includes(resourceType));
}

const lineOf = <Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string =>
  `${JSON.stringify(toJson(schema, message, { useProtoFieldName: true }))}\n`;

test("a customer is created, changed and read, and orgs of it are purged, while somebody has the row of the org system", async () => {
  await sql.query("begin");
  onTestFinished(async () => void (await sql.query("rollback")));
  await sql.query("select from orgs where name = 'system' for update");
  const { path, customerPath } = await api.orgs.createOrg({ org: { name: uniqueName("free") } });
  const { id } = await api.orgs.createOrg({ org: { name: uniqueName("more"), customerPath } });
  await api.customers.updateCustomer({ customer: { displayName: "Free" }, path: customerPath });
  const quotas = createClient(QuotasService, api.transport);
  await quotas.updateQuota({ parentPath: customerPath, quota: { limits: {} }, updateMask: { paths: ["limits"] } });
  // The first one to read is in the log, and the purge would write at the same time.
  await logged(customerPath);
  await api.orgs.deleteOrg({ path: `orgs/@${id}` });
  await expect
    .poll(async () => (await logged(customerPath)).map(({ type, resourceType }) => [type, resourceType]))
    .toEqual([
      [Change_Type.CREATED, "Customer"],
      [Change_Type.UPDATED, "Customer"],
      [Change_Type.READ, "ChangeLog"],
      [Change_Type.DELETED, "Org"],
    ]);
  await api.customers.deleteCustomer({ path: customerPath });
  expect(await failureOf(api.orgs.getOrg({ path }))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
});

/** Returns the changes in the log of a customer itself. */
async function logged(parentPath: string): Promise<Change[]> {
  const { changes } = await api.changes.listChanges({ parentPath, orderBy: "time" });
  return changes.filter((change) => change.customerPath !== "");
}

test("the log of a customer is a chain with a signed head, of which two programs find what was cut off", async () => {
  const { customerPath, path } = await api.orgs.createOrg({ org: { name: uniqueName("proved") } });
  await api.customers.updateCustomer({ path: customerPath, customer: { displayName: "Proved" } });
  await api.customers.updateCustomer({ path: customerPath, customer: { labels: { plan: "gold" } } });
  const changes = await logOf(customerPath);
  const head = await api.changes.getChangesHead({ parentPath: customerPath });
  const { id } = await api.customers.getCustomer({ path: customerPath });
  expect(changes.map((change) => [change.customerPath, change.orgPath])).toEqual(
    changes.map(() => [`/customers/@${id}`, ""]),
  );
  expect(head).toMatchObject({ customerPath: `/customers/@${id}`, orgPath: "", hash: changes.at(-1)?.proof?.hash });
  expect(head.hash).not.toBe((await api.changes.getChangesHead({ parentPath: path })).hash);
  expect(await failureOf(api.changes.getChangesHead({}))).toMatchObject({ reason: "FIELD_INVALID" });

  const folder = await mkdtemp(join(tmpdir(), "customer-logs-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const keys = join(folder, "keys.json");
  await writeFile(keys, await (await fetch(`${server.url}/.well-known/log-keys.json`)).text());
  const file = join(folder, "changes.ndjson");
  const check = async (lines: readonly string[]) => {
    await writeFile(file, [lineOf(ChangesHeadSchema, head), ...lines].join(""));
    const program = join(import.meta.dirname, "../../examples/log/verify.py");
    const run = promisify(execFile)("python3", [program, file, "--keys", keys]);
    const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
    return [(await verifyFile(file, { keys }, () => {})).faults, Number(/(\d+) faults$/m.exec(stdout)?.[1])];
  };
  const lines = changes.map((change) => lineOf(ChangeSchema, change));
  expect(await check(lines)).toEqual([0, 0]);
  expect(await check(lines.slice(0, -1))).toEqual([1, 1]);
  const ofOrg = lines.map((line) => line.replace(`"customer_path":"/customers/`, `"org_path":"/orgs/`));
  expect(await check(ofOrg)).toEqual([2 * lines.length, 2 * lines.length]);
});

test("who may list the changes of a customer finds those of one actor in its own log, too", async () => {
  const company = await openCompany("gRPC", server);
  const { customerPath } = company.org;
  const owner = await company.joinAs("owner");
  await company.bind(customerPath, "owner", owner);
  await owner.customers.updateCustomer({ path: customerPath, customer: { displayName: "Found" } });
  const filter = `actor_path = "${owner.path}" AND resource_type = "Customer"`;
  const { changes } = await owner.changes.listChanges({ parentPath: customerPath, filter });
  expect(changes.map((change) => [change.customerPath, change.changedFields])).toEqual([
    [customerPath, ["display_name"]],
  ]);
  const other = await openCompany("gRPC", server);
  const outsider = await other.joinAs("owner");
  expect(await failureOf(outsider.changes.getChangesHead({ parentPath: customerPath }))).toMatchObject({
    reason: "PERMISSION_DENIED",
  });
  const ofOrg = await owner.changes.listChanges({ parentPath: company.org.path, filter: `resource_type = "Customer"` });
  expect(ofOrg.changes).toEqual([]);
});
