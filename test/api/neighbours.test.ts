// Tests that what one org does leaves the others their share of the service.
import { once } from "node:events";
import { connect } from "node:net";
import { create as createMessage } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Health, HealthCheckRequestSchema } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { callBidiStream, callServerStream, openGrpc } from "../http/grpc-client.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

interface OwnedOrg {
  readonly path: string;
  readonly id: string;
  /** Of an owner. */
  readonly key: string;
  readonly api: Api;
}

/** Creates an org, and returns its path and the client of an owner. */
async function createOwned(operator: Api): Promise<OwnedOrg> {
  const { path, id } = await operator.orgs.createOrg({ org: { name: uniqueName("org") } });
  const key = await createOwner(operator, path);
  return { path, id, key, api: createApi("REST", server.url, key) };
}

/** Creates an owner of an org, and returns its API key. */
async function createOwner(operator: Api, org: string): Promise<string> {
  const name = uniqueName("owner");
  const owner = await operator.members.createMember({ parentPath: org, member: { name } });
  const roleBinding = { name, subjectPath: owner.path, rolePath: "/roles/owner" };
  await operator.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
  const { secret = "" } = await operator.apiKeys.createApiKey({ parentPath: owner.path, apiKey: { name: "key" } });
  return secret;
}

test("an org whose writes wait for each other leaves connections to others", async () => {
  const operator = createApi("REST", server.url, server.operatorKey);
  const [busy, quiet] = [await createOwned(operator), await createOwned(operator)];
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  const create = ({ api, path }: typeof busy, name: string) =>
    api.projects.createProject({ parentPath: path, project: { name } });
  // The first one takes long, and a write waits for a lock for ten seconds at most.
  await create(quiet, "before");
  await client.query("begin");
  await client.query("select from orgs where id = $1 for update", [busy.id]);
  const waiting = Array.from({ length: 30 }, (_, index) => create(busy, `p-${index}`));
  // All of the others' writes, singly and at once, while none of the org's own can end.
  await create(quiet, "first");
  await Promise.all(Array.from({ length: 10 }, (_, index) => create(quiet, `q-${index}`)));
  const { projects } = await quiet.api.projects.listProjects({ parentPath: quiet.path });
  expect(projects).toHaveLength(12);
  // The operator writes into the org that is busy, which it names, and into others.
  for (let index = 0; index < 30; index++) waiting.push(create({ ...busy, api: operator }, `by-operator-${index}`));
  await create({ ...quiet, api: operator }, "by-operator");
  await client.query("commit");
  await client.end();
  expect(await Promise.all(waiting)).toHaveLength(60);
});

test("an org whose previews wait leaves room to those of others", async () => {
  const operator = createApi("REST", server.url, server.operatorKey);
  const [busy, quiet] = [await createOwned(operator), await createOwned(operator)];
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query("select from orgs where id = $1 for update", [busy.id]);
  const preview = async (api: Api, { path }: OwnedOrg) => {
    const role = { name: uniqueName("role"), permissions: ["iam.projects.get"] };
    const { accessPreview } = await api.roles.createRole({ parentPath: path, role, validateOnly: true });
    return accessPreview;
  };
  const waiting = [1, 2, 3].map(() => preview(busy.api, busy));
  const ended = await Promise.all([1, 2, 3].map(() => preview(quiet.api, quiet)));
  expect(ended).toEqual(Array(3).fill(expect.anything()));
  await client.query("commit");
  await client.end();
  expect(await Promise.all(waiting)).toEqual(Array(3).fill(expect.anything()));
});

test("previews of two orgs that wait for the lock of one leave their room to those of others", async () => {
  const operator = createApi("REST", server.url, server.operatorKey);
  const [busy, quiet] = [await createOwned(operator), await createOwned(operator)];
  const { customerPath } = await operator.orgs.getOrg({ path: busy.path });
  const member = await operator.members.createMember({ parentPath: busy.path, member: { name: "member" } });
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("begin");
  await client.query("select from orgs where id = $1 for update", [busy.id]);
  const roleBinding = { name: uniqueName("binding"), subjectPath: member.path, rolePath: "/roles/viewer" };
  // The one names the org that it locks, and the other locks the org of its subject.
  const waiting = [
    busy.api.roleBindings.createRoleBinding({ parentPath: busy.path, roleBinding, validateOnly: true }),
    operator.roleBindings.createRoleBinding({ parentPath: customerPath, roleBinding, validateOnly: true }),
  ];
  const locked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const countLocked = async () => {
    await client.query("select pg_stat_clear_snapshot()");
    return (await client.query(locked)).rowCount;
  };
  await expect.poll(countLocked).toBe(2);
  const role = { name: uniqueName("role"), permissions: ["iam.projects.get"] };
  const ended = await quiet.api.roles.createRole({ parentPath: quiet.path, role, validateOnly: true });
  expect(ended.accessPreview).toEqual(expect.anything());
  await client.query("commit");
  const previews = (await Promise.all(waiting)).map(({ accessPreview }) => accessPreview);
  expect(previews).toEqual(Array(2).fill(expect.anything()));
});

test("long bodies that never come keep no long body waiting", async () => {
  const operator = createApi("REST", server.url, server.operatorKey);
  const { path, key, api } = await createOwned(operator);
  const { hostname, port } = new URL(server.url);
  const begun: Promise<unknown>[] = [];
  for (let count = 0; count < 4; count++) {
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    begun.push(once(socket, "data").then(([answer]) => expect(String(answer)).toMatch("HTTP/1.1 100 ")));
    socket.write(
      `POST /iam/v1alpha${path}/members:batchCreate HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 200000\r\nExpect: 100-continue\r\n\r\n",
    );
  }
  // With 100 Continue, each of them has its place.
  await Promise.all(begun);
  const displayName = "X".repeat(200);
  const requests = Array.from({ length: 500 }, (_, index) => ({ member: { name: `member-${index}`, displayName } }));
  const created = await Promise.all(
    [0, 1, 2].map((batch) =>
      api.members.batchCreateMembers({
        parentPath: path,
        requests: requests.map(({ member }) => ({ member: { ...member, name: `${member.name}-${batch}` } })),
      }),
    ),
  );
  expect(created.map(({ members }) => members.length)).toEqual([500, 500, 500]);
});

test("calls at once are limited for a member and for its org, and not for others", async () => {
  const operator = createApi("REST", server.url, server.operatorKey);
  const [busy, quiet] = [await createOwned(operator), await createOwned(operator)];
  const limited = await startTestServer({ databaseUrl: server.databaseUrl, callsPerCaller: 2, callsPerOrg: 3 });
  onTestFinished(() => limited.close());
  const [owner, second, third] = [
    busy.key,
    await createOwner(operator, busy.path),
    await createOwner(operator, busy.path),
  ].map((key) => createApi("Connect", limited.url, key)) as [Api, Api, Api];
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query("select from orgs where id = $1 for update", [busy.id]);
  const create = (api: Api, name: string) => api.projects.createProject({ parentPath: busy.path, project: { name } });
  const read = (api: Api, { path } = busy) =>
    api.projects.listProjects({ parentPath: path, filter: `name = "${uniqueName("x")}"` });
  const tooMany = (subject: string, count: number) =>
    expect.objectContaining({
      code: "ResourceExhausted",
      reason: "RATE_LIMITED",
      metadata: { limit: `${subject}-calls`, calls_at_once: String(count) },
    }) as unknown;
  const locked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const countLocked = async () => {
    // A transaction sees what it has seen before.
    await client.query("select pg_stat_clear_snapshot()");
    return (await client.query(locked)).rowCount;
  };
  const waiting = [create(owner, "one"), create(owner, "two")];
  await expect.poll(countLocked).toBe(2);
  expect(await failureOf(read(owner))).toEqual(tooMany("caller", 2));
  waiting.push(create(second, "three"));
  await expect.poll(countLocked).toBe(3);
  expect(await failureOf(read(third))).toEqual(tooMany("org", 3));
  expect((await read(createApi("Connect", limited.url, quiet.key), quiet)).projects).toEqual([]);
  await client.query("commit");
  await client.end();
  await Promise.all(waiting);
  expect((await read(owner)).projects).toEqual([]);
});

interface Load {
  readonly path: (org: string) => string;
  readonly body: (org: string) => unknown;
  readonly status: number;
}

const loads: Readonly<Record<string, Load>> = {
  "batches of checks": {
    path: () => "access:batchCheck",
    body: (org) => ({
      checks: Array.from({ length: 1000 }, (_, index) => ({
        subject_path: `${org}/members/m-${index}`,
        permission: "iam.projects.get",
        resource_path: org,
      })),
    }),
    status: 200,
  },
  "large bodies": {
    path: (org) => `${org.slice(1)}/members`,
    body: () => ({ description: Array(200_000).fill(0) }),
    status: 400,
  },
};

test.each(Object.entries(loads))(
  "a call of an org is answered before %s that another one has sent at once",
  async (_, load) => {
    const operator = createApi("REST", server.url, server.operatorKey);
    const [busy, quiet] = [await createOwned(operator), await createOwned(operator)];
    const body = JSON.stringify(load.body(busy.path));
    const headers = { authorization: `Bearer ${busy.key}`, "content-type": "application/json" };
    const url = `${server.url}/iam/v1alpha/${load.path(busy.path)}`;
    const calls = 24;
    /** Returns how many calls are answered before that of the other org, which is sent when the first is answered. */
    const countBefore = async (): Promise<number> => {
      const answered: string[] = [];
      const waiting = Array.from({ length: calls }, async () => {
        const answer = await fetch(url, { method: "POST", headers, body });
        expect(answer.status).toBe(load.status);
        answered.push("busy");
        await answer.arrayBuffer();
      });
      await Promise.race(waiting);
      await quiet.api.orgs.getOrg({ path: quiet.path });
      answered.push("quiet");
      await Promise.all(waiting);
      return answered.indexOf("quiet");
    };
    // Opens connections, so that afterwards all calls arrive before the first is answered.
    const read = async () => (await fetch(`${server.url}/iam/v1alpha${busy.path}`, { headers })).arrayBuffer();
    await Promise.all(Array.from({ length: calls }, read));
    const counts = [await countBefore()];
    // The database may have kept the call waiting, when others have the processor. Without time slices, all calls come before it.
    while (Math.min(...counts) >= calls / 2 && counts.length < 30) counts.push(await countBefore());
    expect(Math.min(...counts)).toBeLessThan(calls / 2);
  },
);

test("a client without credentials has few streams, and asks reflection at the pace of its address", async () => {
  const limited = await startTestServer({ streamsPerAddress: 11, anonymousPerAddress: 100 });
  onTestFinished(() => limited.close());
  using client = openGrpc(Number(new URL(limited.url).port));
  const watch = () => callServerStream(client, Health.method.watch, createMessage(HealthCheckRequestSchema));
  const open = watch();
  open.on("error", () => undefined);
  await once(open, "data");
  const method = ServerReflection.method.serverReflectionInfo;
  const reflection = callBidiStream(client, method);
  const startMs = performance.now();
  const messageRequest = { case: "fileContainingSymbol", value: "iam.v1alpha.Org" } as const;
  for (let count = 0; count < 150; count++) reflection.write(createMessage(method.input, { messageRequest }));
  let answers = 0;
  reflection.on("data", () => answers++);
  await once(reflection, "data");
  const [refusal] = (await once(watch(), "error")) as { code: number }[];
  expect(refusal?.code).toBe(status.RESOURCE_EXHAUSTED);
  reflection.end();
  await once(reflection, "end");
  expect(answers).toBe(150);
  // A stream of ten places and 150 answers: at least 60 are beyond the 100 that come at once, and due within 600 ms.
  expect(performance.now() - startMs).toBeGreaterThan(400);
  open.cancel();
});
