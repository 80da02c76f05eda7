// Tests the rate limits of members and orgs over every protocol. The gate counts calls before their permissions are checked,
// so calls of members without a role count, too.
import { setTimeout as sleep } from "node:timers/promises";
import { ConnectError } from "@connectrpc/connect";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ErrorInfoSchema,
  QuotaFailureSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.ts";
import { openRaw } from "../http/raw-client.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Protocol, protocols, overFirst } from "../support/transports.ts";

/** A server without limits, on which the tests create what they need. */
let unlimited: TestServer;
let limited: TestServer;

beforeAll(async () => {
  unlimited = await startTestServer();
  limited = await startTestServer({
    databaseUrl: unlimited.databaseUrl,
    rateReadsPerCaller: 3,
    rateWritesPerCaller: 2,
    rateReadsPerOrg: 5,
    rateWritesPerOrg: 4,
  });
});
afterAll(async () => {
  await limited.close();
  await unlimited.close();
});

const operator = () => createApi("Connect", unlimited.url, unlimited.operatorKey);

async function createOrg(): Promise<string> {
  const { path } = await operator().orgs.createOrg({ org: { name: uniqueName("acme") } });
  return path;
}

async function createMember(org: string): Promise<string> {
  const { path } = await operator().members.createMember({
    parentPath: org,
    member: { name: uniqueName("m"), type: 2 },
  });
  return path;
}

async function createKey(member: string): Promise<string> {
  const { secret } = await operator().apiKeys.createApiKey({ parentPath: member, apiKey: { name: uniqueName("k") } });
  if (secret === undefined) throw new Error("the key has no secret");
  return secret;
}

/** Returns a key of a new member. */
const newKey = async (org?: string) => createKey(await createMember(org ?? (await createOrg())));

const read = (api: Api) => failureOf(api.orgs.listOrgs({}));
const write = (api: Api) => failureOf(api.orgs.createOrg({ org: { name: "never" } }));

async function times(count: number, call: () => Promise<unknown>): Promise<unknown[]> {
  const results = [];
  for (let index = 0; index < count; index++) results.push(await call());
  return results;
}

/** A call that was not limited, of a member without a role. */
const passed = expect.objectContaining({ code: "PermissionDenied" }) as unknown;
const refusedBy = (limit: string) =>
  expect.objectContaining({
    code: "ResourceExhausted",
    reason: "RATE_LIMITED",
    metadata: expect.objectContaining({ limit }),
  }) as unknown;

async function errorOf(call: Promise<unknown>): Promise<ConnectError> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof ConnectError) return thrown;
  throw new Error("the call did not fail as calls do", { cause: thrown });
}

const connectOver =
  (protocol: Protocol) =>
  (key: string | undefined, server = limited): Api =>
    createApi(protocol, server.url, key);

describe.each(overFirst(protocols))("over %s", (protocol) => {
  const connect = connectOver(protocol);

  test("an error says which limit was exceeded, when to try again and what remains of the others", async () => {
    const api = connect(await newKey());
    expect(await times(3, () => read(api))).toEqual([passed, passed, passed]);
    const error = await errorOf(api.orgs.listOrgs({}));
    const description = "a member, with all its API keys, may make 3 reads a minute";
    expect(error.rawMessage).toMatch(new RegExp(`^too many requests: ${description}; try again in [1-6]?[0-9] s$`));
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      {
        reason: "RATE_LIMITED",
        domain: "iam.tenantry.dev",
        metadata: { limit: "caller-reads", requests_per_minute: "3" },
      },
    ]);
    expect(error.findDetails(QuotaFailureSchema)).toMatchObject([{ violations: [{ subject: "caller", description }] }]);
    expect(error.findDetails(RequestInfoSchema)).toHaveLength(1);

    const [retry] = error.findDetails(RetryInfoSchema);
    const delayMs = retry?.retryDelay === undefined ? 0 : durationMs(retry.retryDelay);
    expect(delayMs).toBeGreaterThan(30_000);
    expect(delayMs).toBeLessThanOrEqual(60_000);
    expect(error.metadata.get("retry-after")).toBe(String(Math.ceil(delayMs / 1_000)));
    expect(error.metadata.get("ratelimit-policy")).toBe('"caller-reads";q=3;w=60, "org-reads";q=5;w=60');
    expect(error.metadata.get("ratelimit")).toMatch(/^"caller-reads";r=0;t=[3-6]\d, "org-reads";r=2;t=[3-6]\d$/);
  });

  test("a response says what remains of the limits that apply, and only of those", async () => {
    const server = await startTestServer({
      databaseUrl: unlimited.databaseUrl,
      rateReadsPerCaller: 10,
      rateReadsPerOrg: 20,
      rateWritesPerOrg: 30,
    });
    onTestFinished(() => server.close());
    const api = connect(unlimited.operatorKey, server);
    const seen: (string | undefined)[] = [];
    const onHeader = (header: Headers): void => {
      // The minute advances between two calls.
      const left = header.get("ratelimit")?.replaceAll(/t=(60|[1-5]\d)\b/g, "t=60");
      seen.push(header.get("ratelimit-policy") ?? undefined, left);
    };
    const { orgs } = await api.orgs.listOrgs({}, { onHeader });
    await api.orgs.getOrg({ path: orgs[0]?.path ?? "" }, { onHeader });
    await api.orgs.createOrg({ org: { name: uniqueName("acme") } }, { onHeader });
    const reads = '"caller-reads";q=10;w=60, "org-reads";q=20;w=60';
    expect(seen).toEqual([
      reads,
      '"caller-reads";r=9;t=60, "org-reads";r=19;t=60',
      reads,
      '"caller-reads";r=8;t=60, "org-reads";r=18;t=60',
      '"org-writes";q=30;w=60',
      '"org-writes";r=29;t=60',
    ]);
  });
});

// Calls are counted before the protocol matters.
describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  const connect = connectOver(protocol);

  test("reads and writes are counted separately", async () => {
    const api = connect(await newKey());
    expect(await times(4, () => read(api))).toEqual([passed, passed, passed, refusedBy("caller-reads")]);
    expect(await times(3, () => write(api))).toEqual([passed, passed, refusedBy("caller-writes")]);
  });

  test("the keys of a member are counted together", async () => {
    const member = await createMember(await createOrg());
    const [first, second] = [connect(await createKey(member)), connect(await createKey(member))];
    await times(2, () => read(first));
    expect(await times(2, () => read(second))).toEqual([passed, refusedBy("caller-reads")]);
    expect(await read(first)).toEqual(refusedBy("caller-reads"));
  });

  test("the members of an org are counted together, those of another org separately", async () => {
    const org = await createOrg();
    const [first, second, other] = [connect(await newKey(org)), connect(await newKey(org)), connect(await newKey())];
    await times(3, () => read(first));
    expect(await times(3, () => read(second))).toEqual([passed, passed, refusedBy("org-reads")]);
    expect(await read(other)).toEqual(passed);

    const error = await errorOf(second.orgs.listOrgs({}));
    const description = "the members of an org together may make 5 reads a minute";
    expect(error.findDetails(QuotaFailureSchema)).toMatchObject([{ violations: [{ subject: "org", description }] }]);
    // Calls that the limit of the org refuses do not count for the member.
    expect(error.metadata.get("ratelimit")).toMatch(/^"caller-reads";r=1;t=\d+, "org-reads";r=0;t=\d+$/);
  });

  test("calls that the limit of a member refuses do not count for its org", async () => {
    const org = await createOrg();
    const [first, second] = [connect(await newKey(org)), connect(await newKey(org))];
    expect(await times(6, () => read(first))).toContainEqual(refusedBy("caller-reads"));
    expect(await times(2, () => read(second))).toEqual([passed, passed]);
  });

  test("a call without a valid token does not count", async () => {
    for (const api of [connect(undefined), connect("tenantry_x")]) {
      for (const failure of await times(6, () => read(api))) expect(failure).toMatchObject({ code: "Unauthenticated" });
    }
    const error = await errorOf(connect("tenantry_x").orgs.listOrgs({}));
    expect([error.metadata.get("ratelimit"), error.metadata.get("ratelimit-policy")]).toEqual([null, null]);
  });

  test("calls of a kind without a limit are not counted and have no rate limit headers", async () => {
    const server = await startTestServer({ databaseUrl: unlimited.databaseUrl, rateWritesPerCaller: 1 });
    onTestFinished(() => server.close());
    const api = connect(unlimited.operatorKey, server);
    let told: (string | null)[] = [];
    const onHeader = (header: Headers) => void (told = [header.get("ratelimit-policy"), header.get("ratelimit")]);
    for (let index = 0; index < 3; index++) await api.orgs.listOrgs({}, { onHeader });
    expect(told).toEqual([null, null]);
  });

  test("without limits there are no rate limit headers", async () => {
    const api = connect(unlimited.operatorKey, unlimited);
    let told: (string | null)[] = [];
    const onHeader = (header: Headers) => void (told = [header.get("ratelimit-policy"), header.get("ratelimit")]);
    await api.orgs.listOrgs({}, { onHeader });
    expect(told).toEqual([null, null]);
    await api.orgs.createOrg({ org: { name: uniqueName("acme") } }, { onHeader });
    expect(told).toEqual([null, null]);
  });

  test("calls are accepted again after the delay in the error", async () => {
    const server = await startTestServer(
      { databaseUrl: unlimited.databaseUrl, rateReadsPerCaller: 1 },
      { rateWindowMs: 1_000 },
    );
    onTestFinished(() => server.close());
    const api = connect(await newKey(), server);
    for (let round = 0; round < 2; round++) {
      expect(await read(api)).toEqual(passed);
      // On a slow machine, the second call may be in the next window.
      const error = await vi.waitFor(() => errorOf(api.orgs.listOrgs({})), { timeout: 120_000, interval: 0 });
      const [retry] = error.findDetails(RetryInfoSchema);
      const delayMs = retry?.retryDelay === undefined ? 0 : durationMs(retry.retryDelay);
      expect(delayMs).toBeGreaterThan(0);
      expect(delayMs).toBeLessThanOrEqual(1_000);
      expect(error.metadata.get("retry-after")).toBe("1");
      await sleep(delayMs);
    }
  });
});

test("REST responds with 429 before it has the body", async () => {
  const key = await newKey();
  await times(2, () => write(createApi("REST", limited.url, key)));
  const connection = await openRaw(Number(new URL(limited.url).port));
  onTestFinished(() => void connection.socket.destroy());
  const head = [
    "POST /iam/v1alpha/orgs HTTP/1.1",
    "host: localhost",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    "content-length: 1000",
  ];
  connection.socket.write(`${head.join("\r\n")}\r\n\r\n{`);
  await connection.until("RATE_LIMITED");
  expect(connection.received()).toMatch(/^HTTP\/1.1 429 /);
  expect(connection.received()).toContain('"status":"RESOURCE_EXHAUSTED"');
  expect(connection.received()).toMatch(/\r\nretry-after: \d+\r\n/i);
});
