// Calls in process beside the same calls over the wire, on one server.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { ConnectError, type HandlerContext, createContextValues } from "@connectrpc/connect";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { Member_Type, MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { registry } from "../../src/resource-registry.ts";
import { composeHealth } from "../../src/compose/health.ts";
import { composeService } from "../../src/compose/service.ts";
import { readConfig } from "../../src/config.ts";
import { createListener } from "../../src/http/listener/listener.ts";
import { startDatabase } from "../../src/installation/start-database.ts";
import { startInstallation } from "../../src/installation/start-installation.ts";
import { closeWithJobs } from "../../src/jobs/close-with-jobs.ts";
import { unpaced } from "../../src/http/request-pace.ts";
import { createRequestHandler } from "../../src/request-handler.ts";
import type { InProcess } from "../../src/rpc/call-in-process.ts";
import type { Guards } from "../../src/rpc/guards.ts";
import type { RunningJob } from "../../src/timers/runs.ts";
import { type Api, createApi } from "../support/api.ts";
import { createTestDatabase } from "../support/test-database.ts";

const readsPerCaller = 20;
const intervals = { rateWindowMs: 3_600_000, checkpointMs: 3_600_000 };

let url: string;
let inProcess: InProcess;
let operator: Api;
let operatorKey: string;
let gate: Guards["gate"];
let close: () => Promise<void>;

beforeAll(async () => {
  const [testDatabase, dataDirectory] = [await createTestDatabase(), await mkdtemp(join(tmpdir(), "tenantry-test-"))];
  const limits = { callsPerCaller: 1, rateReadsPerCaller: readsPerCaller, rateWritesPerCaller: 1_000 };
  const config = { ...readConfig({}), ...limits, databaseUrl: testDatabase.url, dataDirectory };
  const logger = pino({ enabled: false });
  const running = await startDatabase(config, logger, () => {});
  const { database } = running;
  const jobs: RunningJob[] = [];
  const whenAnswers = <Result>(step: () => Promise<Result>): Promise<Result> => step();
  const started = await startInstallation(config, { running, registry, jobs, keptMs: 1_000, logger, whenAnswers });
  const issuer = () => "https://iam.example.com";
  const service = composeService(config, { ...started, database, registry, issuer, logger, ...intervals });
  jobs.push(service.identity.job);
  const health = composeHealth(database, logger);
  const handler = createRequestHandler(config, service, health, undefined);
  const listener = createListener({
    handler: (request, response) => handler(request, response, unpaced, {}),
    limits: {
      maxHeaderBytes: 16_384,
      headersTimeoutMs: 5_000,
      requestTimeoutMs: 5_000,
      keepAliveTimeoutMs: 5_000,
      maxConcurrentStreams: 100,
    },
  });
  url = `http://127.0.0.1:${(await listener.listen(0, "127.0.0.1")).port}`;
  ({ inProcess } = service);
  ({ gate } = service.guards);
  operatorKey = (await readFile(join(dataDirectory, "operator-key"), "utf8")).trim();
  operator = createApi("Connect", url, operatorKey);
  close = async () => {
    health.startDraining();
    await listener.close(0);
    await service.access.job.close();
    await closeWithJobs(jobs, running.close);
    await testDatabase.drop();
    await rm(dataDirectory, { recursive: true });
  };
});

afterAll(() => close());

/** Calls as a facade does for a client with an API key. */
function call<Input extends DescMessage, Output extends DescMessage>(
  method: DescMethodUnary<Input, Output>,
  message: MessageInitShape<Input>,
  key: string,
  { responseHeader = new Headers(), signal = new AbortController().signal } = {},
): Promise<MessageShape<Output>> {
  const requestHeader = new Headers(key === "" ? {} : { authorization: `Bearer ${key}` });
  return inProcess.ofClient(method, message, { requestHeader, responseHeader, signal, values: createContextValues() });
}

/** Creates an org, and returns its path and the key of an application in it that holds a role. */
async function createCaller(org: string, role: string): Promise<{ readonly path: string; readonly key: string }> {
  const { path } = await operator.orgs.createOrg({ org: { name: org } });
  const member = { name: "app", type: Member_Type.APPLICATION };
  const created = await operator.members.createMember({ parentPath: path, member });
  await operator.roleBindings.createRoleBinding({
    parentPath: path,
    roleBinding: { name: "app", rolePath: `/roles/${role}`, subjectPath: created.path },
  });
  const apiKey = await operator.apiKeys.createApiKey({ parentPath: created.path, apiKey: { name: "key" } });
  return { path, key: apiKey.secret ?? "" };
}

/** Returns what an error says, without the id of its request. */
async function errorOf(calling: Promise<unknown>): Promise<object> {
  const error = await calling.then(
    () => expect.unreachable("the call is not refused"),
    (thrown: unknown) => ConnectError.from(thrown),
  );
  const details = error.details.map((detail) => ("desc" in detail ? detail.desc.typeName : detail.type));
  return {
    code: error.code,
    message: error.rawMessage,
    details: details.filter((name) => !name.includes("RequestInfo")),
  };
}

test("a call in process does what one over the wire does", async () => {
  const { path, key } = await createCaller("same", "owner");
  const created = await call(GroupsService.method.createGroup, { parentPath: path, group: { name: "ops" } }, key);
  expect(await createApi("Connect", url, key).groups.getGroup({ path: created.path })).toEqual(created);
});

describe("a call in process is refused like one over the wire", () => {
  let viewer: Awaited<ReturnType<typeof createCaller>>;
  beforeAll(async () => {
    viewer = await createCaller("refused", "viewer");
  });

  test("without credentials, and with those of nobody", async () => {
    for (const key of ["", "nobody"]) {
      const wire = createApi("Connect", url, key === "" ? undefined : key).members.getMember({
        path: "/orgs/a/members/b",
      });
      const error = await errorOf(call(MembersService.method.getMember, { path: "/orgs/a/members/b" }, key));
      expect(error).toEqual(await errorOf(wire));
      expect(error).toMatchObject({ code: 16 });
    }
  });

  test("without the permission", async () => {
    const request = { parentPath: viewer.path, member: { name: "NOT A NAME" } };
    const error = await errorOf(call(MembersService.method.createMember, request, viewer.key));
    expect(error).toEqual(await errorOf(createApi("Connect", url, viewer.key).members.createMember(request)));
    expect(error).toMatchObject({ code: 7 });
  });

  test("with what is not valid", async () => {
    for (const request of [
      { parentPath: viewer.path, member: { name: "NOT A NAME" } },
      { parentPath: viewer.path },
      { parentPath: "no path", member: { name: "zoe" } },
      { parentPath: viewer.path, member: { name: "app" } },
    ]) {
      const error = await errorOf(call(MembersService.method.createMember, request, operatorKey));
      expect(error).toEqual(await errorOf(operator.members.createMember(request)));
    }
  });

  test("when nobody waits for it any more", async () => {
    const signal = AbortSignal.abort();
    const calling = call(OrgsService.method.getOrg, { path: viewer.path }, viewer.key, { signal });
    expect(await errorOf(calling)).toMatchObject({ code: 1 });
  });
});

describe("a call in process is limited like one over the wire", () => {
  test("it counts against the rates of its caller", async () => {
    const { path, key } = await createCaller("rates", "viewer");
    const api = createApi("Connect", url, key);
    const responseHeader = new Headers();
    for (let count = 0; count < readsPerCaller; count++) {
      if (count % 2 === 0) await api.orgs.getOrg({ path });
      else await call(OrgsService.method.getOrg, { path }, key, { responseHeader });
    }
    expect(responseHeader.get("ratelimit")).toContain('"caller-reads";r=0');
    const refused = await errorOf(call(OrgsService.method.getOrg, { path }, key));
    expect(refused).toMatchObject({ code: 8, message: expect.stringContaining(`may make ${readsPerCaller} reads`) });
  });

  test("it counts as one of the calls of its caller at once", async () => {
    const { path, key } = await createCaller("at-once", "viewer");
    const calls = Array.from({ length: 5 }, () => call(OrgsService.method.getOrg, { path }, key));
    const outcomes = await Promise.allSettled(calls);
    const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []));
    expect(outcomes.map(({ status }) => status)).toContain("fulfilled");
    expect(reasons).toContainEqual(expect.stringContaining("may make 1 calls at once"));
  });
});

test("a call for another call counts with it", async () => {
  const { path, key } = await createCaller("within", "access-checker");
  const response = await fetch(`${url}/access/v1/evaluation`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      subject: { type: "member", id: `${path}/members/app` },
      action: { name: "iam.access.check" },
      resource: { type: "org", id: path },
    }),
  });
  expect([response.status, await response.json()]).toEqual([200, { decision: true }]);
  expect(response.headers.get("ratelimit")).toContain(`"caller-reads";r=${readsPerCaller - 1}`);
});

test("a call for another call requires the permission of its own method, and that the other one passed the gate", async () => {
  const { path, key } = await createCaller("own-permission", "viewer");
  const context = {
    method: OrgsService.method.getOrg,
    requestHeader: new Headers({ authorization: `Bearer ${key}` }),
    responseHeader: new Headers(),
    signal: new AbortController().signal,
    values: createContextValues(),
  };
  const creation = { parentPath: path, group: { name: "ops" } };
  const ask = () => inProcess.ofCaller(GroupsService.method.createGroup, creation, context);
  await expect(ask()).rejects.toThrow("did not pass the gate");
  await gate(context as unknown as HandlerContext);
  expect(await inProcess.ofCaller(OrgsService.method.getOrg, { path }, context)).toMatchObject({ path });
  expect(await errorOf(ask())).toMatchObject({ code: 7 });
});
