// Tests that every call ends, however long its client is willing to wait and however slowly it sends.
import { once } from "node:events";
import { connect } from "node:http2";
import { Code, type ConnectError } from "@connectrpc/connect";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { protocols } from "../support/transports.ts";

let server: TestServer;
/** Has time to answer between the end of a statement and the deadline of its call, also on a busy machine. */
let patient: TestServer;
beforeAll(async () => {
  server = await startTestServer({ requestTimeoutMs: 500 });
  patient = await startTestServer({ requestTimeoutMs: 8_000 });
});
afterAll(() => Promise.all([server.close(), patient.close()]));

/** Runs a statement in a transaction that stays open until the test ends. Returns a function that ends it sooner. */
async function hold(statement: string, { databaseUrl } = server): Promise<() => Promise<void>> {
  const locker = new pg.Client({ connectionString: databaseUrl });
  await locker.connect();
  onTestFinished(() => locker.end());
  await locker.query(`begin; ${statement}`);
  return async () => void (await locker.query("commit"));
}

test("over any protocol, a call that takes too long is DEADLINE_EXCEEDED, even if the client would wait longer", async () => {
  // Every request looks up its caller, for as long as the request may take.
  await hold("lock table api_keys in access exclusive mode");
  const cases = protocols.flatMap((protocol) => [{}, { timeoutMs: 60_000 }].map((options) => ({ protocol, options })));
  const outcomes = cases.map(async ({ protocol, options }) => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const { code } = await failureOf(api.orgs.createOrg({ org: { name: uniqueName("late") } }, options));
    return { protocol, options, code };
  });
  expect(await Promise.all(outcomes)).toEqual(cases.map((each) => ({ ...each, code: "DeadlineExceeded" })));
});

test.each(protocols)("over %s, a client can ask for more time than a call may take", async (protocol) => {
  const api = createApi(protocol, patient.url, patient.operatorKey);
  expect((await api.orgs.listOrgs({}, { timeoutMs: 3_600_000 })).orgs).not.toEqual([]);
});

test("a write that waits for a lock is UNAVAILABLE before its deadline, says why, and writes nothing afterwards", async () => {
  const logged = patient.logLines.length;
  const api = createApi("REST", patient.url, patient.operatorKey);
  const path = (await api.orgs.createOrg({ org: { name: uniqueName("held") } })).path;
  const release = await hold(`select from orgs where name = '${path.replace("/orgs/", "")}' for update`, patient);
  const error: unknown = await api.projects
    .createProject({ parentPath: path, project: { name: "late" } })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: Code.Unavailable });
  expect((error as ConnectError).rawMessage).toBe(
    "another change of the org or its customer is being written; try again",
  );
  expect((error as ConnectError).metadata.get("retry-after")).toBe("1");
  const lines = patient.logLines.slice(logged);
  expect(lines.filter((line) => line.includes('"level":50'))).toEqual([]);
  expect(lines.join("")).toContain("canceling statement due to lock timeout");
  await release();
  expect((await api.projects.listProjects({ parentPath: path })).projects).toEqual([]);
  await api.projects.createProject({ parentPath: path, project: { name: "late" } });
});

test("a list that takes too long ends before its deadline, with an error that says what to change", async () => {
  const api = createApi("REST", patient.url, patient.operatorKey);
  const { path } = await api.orgs.createOrg({ org: { name: uniqueName("slow") } });
  await api.projects.createProject({ parentPath: path, project: { name: "one" } });
  const client = new pg.Client({ connectionString: patient.databaseUrl });
  await client.connect();
  await client.query(`alter table projects rename to kept;
    create view projects as select kept.* from kept where pg_sleep(30) is not null`);
  onTestFinished(async () => {
    await client.query("drop view projects; alter table kept rename to projects");
    await client.end();
  });
  const error: unknown = await api.projects.listProjects({ parentPath: path }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: Code.DeadlineExceeded });
  expect((error as ConnectError).rawMessage).toMatch(
    /^the list took longer than the \d+ ms it has; use a narrower filter or a smaller page_size$/,
  );
});

test.each([
  ["/iam.v1alpha.OrgsService/ListOrgs", "application/grpc+proto"],
  ["/oauth2/token", "application/x-www-form-urlencoded"],
  ["/console/session", "application/json"],
])("a stream to %s whose body never ends is closed, which is no error of the service", async (path, type) => {
  const before = server.logLines.length;
  const session = connect(server.url);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": type,
    "sec-fetch-site": "same-origin",
    te: "trailers",
  });
  stream.on("error", () => {});
  stream.write("\0");
  await once(stream, "close");
  expect(stream.closed).toBe(true);
  expect(server.logLines.slice(before).filter((line) => line.includes('"level":50'))).toEqual([]);
});
