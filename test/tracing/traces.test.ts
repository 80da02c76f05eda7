// What a collector gets of calls over each protocol, by real sockets.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request as requestHttp } from "node:http";
import type { ClientHttp2Stream } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { CreateGroupRequestSchema } from "../../gen/iam/v1alpha/group_pb.ts";
import { createSampler, samplers } from "../../src/tracing/sampler.ts";
import { activeSpan, within, withinAll } from "../../src/tracing/active-span.ts";
import { openTracing } from "../../src/tracing/open-tracing.ts";
import { parseTraceParent } from "../../src/tracing/trace-parent.ts";
import { accepted } from "../events/signals/place.ts";
import { startReceiver, webhookNetworks } from "../events/webhooks/receiver.ts";
import { openHttp2 } from "../http/http2-client.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type CollectedSpan, type Collector, startCollector } from "./collector.ts";

let collector: Collector;
let server: TestServer;
beforeAll(async () => {
  vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "100");
  vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.name=access");
  collector = await startCollector();
  // Whoever is trusted says what is traced.
  const traces = { url: collector.url, sampler: "parentbased_always_off", share: 1 } as const;
  server = await startTestServer({ traces, trustedProxies: ["127.0.0.1/32"], webhookNetworks });
});
afterAll(async () => {
  await server.close();
  collector.close();
  vi.unstubAllEnvs();
});

/** A trace of a caller, by its `traceparent`. */
function createParent(isSampled = true) {
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-0${isSampled ? 1 : 0}` } };
}

const spansOf = (traceId: string): readonly CollectedSpan[] =>
  collector.spans.filter((span) => span.traceId === traceId);

/** Returns the spans of a trace once its request has ended. */
async function endedTrace(traceId: string): Promise<readonly CollectedSpan[]> {
  await expect.poll(() => spansOf(traceId).filter(({ kind }) => kind === 2)).toHaveLength(1);
  return spansOf(traceId);
}

const lineOf = (traceId: string) =>
  server.logLines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find((line) => line["trace_id"] === traceId);

describe.each(["REST", "Connect", "gRPC", "gRPC-Web"] as const)("over %s", (protocol) => {
  test("a call is a span below that of its caller, with what it waits for below it", async () => {
    const { traceId, spanId, headers } = createParent();
    const api = createApi(protocol, server.url, server.operatorKey);
    const { path } = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const group = { name: uniqueName("secretname"), description: "a secret description" };
    await api.groups.createGroup({ parentPath: path, group }, { headers });

    const spans = await endedTrace(traceId);
    const call = spans.find(({ kind }) => kind === 2);
    expect(call).toMatchObject({
      parentId: spanId,
      name: "iam.v1alpha.GroupsService/CreateGroup",
      status: 0,
      attributes: {
        "rpc.method": "iam.v1alpha.GroupsService/CreateGroup",
        "rpc.system.name": { REST: "rest", Connect: "connectrpc", gRPC: "grpc", "gRPC-Web": "grpc-web" }[protocol],
        "rpc.response.status_code": "OK",
        "http.response.status_code": protocol === "REST" ? 201 : 200,
      },
    });
    const partsOf = (parent: string | undefined) => spans.filter(({ parentId }) => parentId === parent);
    const names = partsOf(call?.spanId).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["authenticate", "authorize", "insert groups", "commit"]));
    const authenticate = spans.find(({ name }) => name === "authenticate");
    expect(partsOf(authenticate?.spanId)).toEqual([
      expect.objectContaining({ kind: 3, attributes: expect.objectContaining({ "db.system.name": "postgresql" }) }),
    ]);
    expect(lineOf(traceId)).toMatchObject({ msg: "request", span_id: call?.spanId });
    // Neither what was sent nor who sent it.
    for (const secret of [server.operatorKey, group.name, group.description])
      expect(collector.bytes()).not.toContain(secret);
  });
});

describe("a body that comes later than its head does not lose its call", () => {
  const body = JSON.stringify({ parentPath: "orgs/late", group: { name: "late" } });
  const framed = (bytes: Uint8Array): Buffer => {
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(bytes.length, 1);
    return Buffer.concat([frame, bytes]);
  };
  const request = { parentPath: "orgs/late", group: { name: "late-grpc" } };
  const message = toBinary(CreateGroupRequestSchema, create(CreateGroupRequestSchema, request));
  const method = "/iam.v1alpha.GroupsService/CreateGroup";

  beforeAll(async () => {
    await createApi("REST", server.url, server.operatorKey).orgs.createOrg({ org: { name: "late" } });
  });

  test.each([
    ["REST", "/iam/v1alpha/orgs/late/groups", "application/json", Buffer.from('{"name": "late-rest"}')],
    ["Connect", method, "application/json", Buffer.from(body)],
    ["gRPC", method, "application/grpc", framed(message)],
  ])("over %s", async (protocol, path, type, sent) => {
    const { traceId, headers } = createParent();
    const all = { ...headers, "content-type": type, authorization: `Bearer ${server.operatorKey}`, te: "trailers" };
    const session = await openHttp2(server.url);
    const stream =
      protocol === "gRPC"
        ? session.request({ ":method": "POST", ":path": path, ...all })
        : requestHttp(server.url + path, { method: "POST", headers: { ...all, "content-length": sent.length } });
    if ("flushHeaders" in stream) stream.flushHeaders();
    // It is known who calls before it is known what for.
    await sleep(50);
    stream.write(sent.subarray(0, 8));
    await sleep(50);
    stream.end(sent.subarray(8));
    const [response] = (await once(stream, "response")) as [IncomingMessage | object];
    ("resume" in response ? response : (stream as ClientHttp2Stream)).resume();
    const spans = await endedTrace(traceId);
    expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(["authorize", "insert groups", "commit"]));
    session.close();
  });
});

test("writes that share a transaction, and lookups that share a statement, are each in the trace of their call", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
  const calls = Array.from({ length: 12 }, (_, index) => ({ ...createParent(index % 2 === 0), index }));
  await Promise.all(
    calls.map(({ index, headers }) =>
      api.groups.createGroup({ parentPath, group: { name: `group-${index}` } }, { headers }),
    ),
  );
  const sampled = calls.filter(({ index }) => index % 2 === 0);
  for (const { traceId } of sampled) {
    const names = (await endedTrace(traceId)).map(({ name }) => name);
    expect(names.filter((name) => name === "insert groups")).toHaveLength(1);
  }
  for (const { index, traceId } of calls) if (index % 2 === 1) expect(spansOf(traceId)).toEqual([]);
  // Each looked up its key: below it, or in a statement that is linked with it.
  const lookups = collector.spans.filter(({ name }) => name === "find_api_keys");
  for (const { traceId } of sampled) {
    const own = lookups.filter((span) => [span, ...span.links].some((each) => each.traceId === traceId));
    expect(own).toHaveLength(1);
  }
});

test("a call that fails for the service is an error, and one of its caller is not", async () => {
  const { traceId, headers } = createParent();
  const api = createApi("REST", server.url, server.operatorKey);
  await expect(api.orgs.getOrg({ path: "orgs/none" }, { headers })).rejects.toThrow("none");
  const call = (await endedTrace(traceId)).find(({ kind }) => kind === 2);
  expect(call).toMatchObject({ status: 0, attributes: { "rpc.response.status_code": "NOT_FOUND" } });
});

/** @param localAddress 127.0.0.1 is trusted; others of this machine are not. */
async function get(path: string, headers: Record<string, string>, localAddress: string): Promise<number | undefined> {
  const sent = requestHttp(server.url + path, { headers, localAddress, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "close");
  return response.statusCode;
}

test("only who is trusted decides that a call is traced, and what its trace is in the log", async () => {
  const bearer = { authorization: `Bearer ${server.operatorKey}` };
  const [stranger, quiet, trusted, probe] = [createParent(), createParent(false), createParent(), createParent()];
  await get("/iam/v1alpha/orgs", { ...bearer, ...stranger.headers }, "127.0.0.2");
  await get("/iam/v1alpha/orgs", { ...bearer, ...quiet.headers }, "127.0.0.1");
  await get("/readyz", probe.headers, "127.0.0.1");
  await get("/iam/v1alpha/orgs", { ...bearer, ...trusted.headers }, "127.0.0.1");
  await endedTrace(trusted.traceId);
  expect([stranger, quiet, probe].flatMap(({ traceId }) => spansOf(traceId))).toEqual([]);
  expect(lineOf(quiet.traceId)).toMatchObject({ msg: "request" });
  expect(lineOf(quiet.traceId)).not.toHaveProperty("span_id");
  expect(lineOf(stranger.traceId)).toBeUndefined();
});

test("the traces are those of a service, as the environment calls it", () => {
  expect(collector.resources[0]).toMatchObject({
    "service.name": "access",
    "deployment.environment.name": "test",
    "service.version": expect.stringMatching(/^\d/),
  });
});

test("a request of a webhook tells its receiver of a trace", async () => {
  const { url, received } = await startReceiver();
  const api = createApi("REST", server.url, server.operatorKey);
  const { path } = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
  await api.webhooks.createWebhook({ parentPath: path, webhook: { name: "audit", url } });
  await api.groups.createGroup({ parentPath: path, group: { name: "first" } });
  await expect.poll(() => received.length).toBeGreaterThan(0);
  expect(parseTraceParent(received[0]?.headers["traceparent"])).toMatchObject({ isSampled: false });
});

test("a request of an event stream tells its receiver of a trace", async () => {
  const { url: pushUrl, received } = await startReceiver(accepted);
  const api = createApi("REST", server.url, server.operatorKey);
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
  const { path } = await api.members.createMember({ parentPath, member: { name: "alice" } });
  const eventTypes = ["https://schemas.openid.net/secevent/caep/event-type/session-revoked"];
  const eventStream = { name: "gateway", audience: "https://gateway.example.com", pushUrl, eventTypes };
  await api.eventStreams.createEventStream({ parentPath, eventStream });
  await api.members.revokeTokens({ path });
  await expect.poll(() => received.length).toBeGreaterThan(0);
  expect(parseTraceParent(received[0]?.headers["traceparent"])).toMatchObject({ isSampled: false });
});

test("what is done for several calls is a part of the first, and linked with the others", async () => {
  const tracing = openTracing({
    url: collector.url,
    sampler: createSampler("always_on", 1),
    version: "1",
    onFailure: () => undefined,
  });
  onTestFinished(() => tracing.close());
  const [first, second, ended] = ["first", "second", "ended"].map(
    (name) => tracing.begin(name, undefined, false)?.span,
  );
  expect(withinAll([], activeSpan)).toBeUndefined();
  expect(withinAll([undefined, second, second], activeSpan)).toBe(second);
  // What another call has begun is no part of one without a trace.
  expect(within(first, () => withinAll([undefined], activeSpan))).toBeUndefined();
  withinAll([first, undefined, second], () => activeSpan()?.begin("select", "client")?.end());
  ended?.end();
  expect(ended?.begin("late", "client")).toBeUndefined();
  // A call with too many parts loses the rest.
  const parts = Array.from({ length: 300 }, () => second?.begin("part", "internal"));
  expect(parts.filter((part) => part !== undefined)).toHaveLength(256);
  const outgoing = tracing.beginOutgoing("webhook delivery");
  expect(outgoing.parent).toMatchObject({ isSampled: true, traceId: outgoing.span?.traceId });
  // Strangers cannot put everything into one trace.
  const claimed = createParent();
  const ofStranger = tracing.begin("stranger", { ...claimed, isSampled: true }, false)?.span;
  ofStranger?.end();
  await tracing.close();
  expect(collector.spans.find(({ name }) => name === "stranger")).toMatchObject({
    traceId: ofStranger?.traceId,
    parentId: "",
    links: [{ traceId: claimed.traceId, spanId: claimed.spanId }],
  });
  expect(ofStranger?.traceId).not.toBe(claimed.traceId);
  expect(collector.spans.find(({ name, traceId }) => name === "select" && traceId === first?.traceId)).toMatchObject({
    parentId: first?.spanId,
    links: [{ traceId: second?.traceId, spanId: second?.spanId }],
  });
});

test.each([
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true],
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", false],
  ["cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-what-comes-later", true],
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", undefined],
  ["ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", undefined],
  ["00-00000000000000000000000000000000-b7ad6b7169203331-01", undefined],
  ["00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", undefined],
  ["00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", undefined],
  [`cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-${"x".repeat(600)}`, undefined],
  ["", undefined],
])("traceparent: %s", (header, isSampled) => {
  expect(parseTraceParent(header)?.isSampled).toBe(isSampled);
});

test("samplers: by the word of the parent, or by its id", () => {
  const ids = { low: `${"0".repeat(31)}1`, high: "f".repeat(32) };
  const parentOf = (traceId: string, isSampled: boolean) => ({ traceId, spanId: "1".repeat(16), isSampled });
  const decided = samplers.map((name) => {
    const sampler = createSampler(name, 0.5);
    return [name, sampler(parentOf(ids.low, false)), sampler(parentOf(ids.high, true))];
  });
  expect(decided).toEqual([
    ["always_on", true, true],
    ["always_off", false, false],
    ["traceidratio", true, false],
    ["parentbased_always_on", false, true],
    ["parentbased_always_off", false, true],
    ["parentbased_traceidratio", false, true],
  ]);
});
