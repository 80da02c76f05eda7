// Tests what is scraped from a server, over its sockets.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { routes } from "../../src/metrics/routes.ts";
import { services, standardServices } from "../../src/rpc/services.ts";
import { callHttp2, openHttp2 } from "../http/http2-client.ts";
import { createApi } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Scraped, scrape } from "./scrape.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ metricsPort: 0, anonymousPerAddress: 0 });
});
afterAll(() => server.close());

const scraped = (): Promise<Scraped> => scrape(server.metricsUrl);

const nameOf = ({ parent, name }: DescMethod): string => `${parent.typeName}/${name}`;

const methods = services.flatMap((service) => service.methods);
const onRest = [...methods, ...standardServices.flatMap((service) => service.methods)].filter((method) =>
  hasOption(method, http),
);

/** Protocols that only frame the calls of another one differ by the kind of a method. `npm run soak` calls all. */
const framed = rounds(
  services.flatMap((service) =>
    service.methods.filter((method, index) => index === 0 || method.methodKind !== "unary"),
  ),
  methods,
);

describe("each method has a series, once it is called,", () => {
  /** Returns the methods that have a series of this protocol. */
  const counted = async (protocol: string): Promise<string[]> => {
    const { samples } = await scraped();
    const durations = samples.filter(({ name }) => name === "rpc_server_call_duration_seconds_count");
    const ofProtocol = durations.filter(({ labels }) => labels["rpc_system_name"] === protocol);
    return ofProtocol.map(({ labels }) => labels["rpc_method"] ?? "").toSorted();
  };

  test.each([
    ["connectrpc", methods, "application/json", "{}", "application/connect+json"],
    ["grpc-web", framed, "application/grpc-web+proto", "\0\0\0\0\0", "application/grpc-web+proto"],
  ])("over %s", async (protocol, called, type, body, typeOfStreams) => {
    for (const method of called) {
      const headers = { "content-type": method.methodKind === "unary" ? type : typeOfStreams };
      const response = await fetch(`${server.url}/${nameOf(method)}`, { method: "POST", headers, body });
      await response.text();
    }
    await expect.poll(() => counted(protocol)).toEqual(called.map(nameOf).toSorted());
  });

  test("over gRPC", async () => {
    const session = await openHttp2(server.url);
    for (const method of framed) {
      const headers = { ":method": "POST", ":path": `/${nameOf(method)}`, "content-type": "application/grpc" };
      await callHttp2(session, headers);
    }
    session.close();
    await expect.poll(() => counted("grpc")).toEqual(framed.map(nameOf).toSorted());
  });

  test("over REST", async () => {
    for (const method of onRest) {
      const { pattern } = getOption(method, http);
      const template = typeof pattern.value === "string" ? pattern.value : "";
      const path = template.replaceAll(/\{[\w.]+=([^}]*)\}/g, "$1").replaceAll("*", "x");
      const verb = String(pattern.case).toUpperCase();
      const body = verb === "GET" || verb === "DELETE" ? {} : { body: "{}" };
      const headers = { "content-type": "application/json" };
      await (await fetch(server.url + path, { method: verb, headers, ...body })).text();
    }
    await expect.poll(() => counted("rest")).toEqual(onRest.map(nameOf).toSorted());
  });
});

test("a call is counted with its code, also where the status of the response does not tell it", async () => {
  const labels = { rpc_method: "iam.v1alpha.OrgsService/GetOrg", rpc_system_name: "grpc" };
  const counts = async (): Promise<readonly number[]> => {
    const { valueOf } = await scraped();
    return ["OK", "NOT_FOUND", "INVALID_ARGUMENT"].map(
      (code) => valueOf("tenantry_calls_total", { ...labels, rpc_response_status_code: code }) ?? 0,
    );
  };
  const before = await counts();
  const { orgs } = createApi("gRPC", server.url, server.operatorKey);
  await orgs.createOrg({ org: { name: "counted" } });
  await orgs.getOrg({ path: "orgs/counted" });
  await orgs.getOrg({ path: "orgs/counted" });
  await expect(orgs.getOrg({ path: "orgs/uncounted" })).rejects.toMatchObject({ code: Code.NotFound });
  await expect(orgs.getOrg({ path: "org/counted" })).rejects.toMatchObject({ code: Code.InvalidArgument });
  const [ok = 0, notFound = 0, invalid = 0] = before;
  await expect.poll(counts).toEqual([ok + 2, notFound + 1, invalid + 1]);
  const { samples, valueOf } = await scraped();
  const codes = samples.filter(
    ({ name, labels: own }) =>
      name === "tenantry_calls_total" && own["rpc_method"] === labels.rpc_method && own["rpc_system_name"] === "grpc",
  );
  const sum = codes.reduce((total, { value }) => total + value, 0);
  expect(valueOf("rpc_server_call_duration_seconds_count", labels)).toBe(sum);
  expect(valueOf("rpc_server_call_duration_seconds_bucket", { ...labels, le: "+Inf" })).toBe(sum);
});

test("a body that is refused before the handler is counted with its code, and the access log says it, too", async () => {
  const headers = { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" };
  const labels = { rpc_method: "iam.v1alpha.OrgsService/CreateOrg", rpc_system_name: "rest" };
  const refused = { ...labels, rpc_response_status_code: "INVALID_ARGUMENT" };
  await (await fetch(`${server.url}/iam/v1alpha/orgs`, { method: "POST", headers, body: "{" })).text();
  await expect.poll(async () => (await scraped()).valueOf("tenantry_calls_total", refused)).toBe(1);
  const lines = () => server.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
  await expect
    .poll(() => lines().filter(({ rpc, status }) => rpc === labels.rpc_method && status === 400))
    .toMatchObject([{ code: "INVALID_ARGUMENT" }]);
});

test("what is in no table of ours is counted together, and nothing of what callers send is in a label", async () => {
  const session = await openHttp2(server.url);
  await callHttp2(session, {
    ":method": "POST",
    ":path": "/secret.v1.SecretService/GetSecret",
    "content-type": "application/grpc",
  });
  session.close();
  await fetch(`${server.url}/iam/v1alpha/secrets/secret`);
  await fetch(`${server.url}/secret.php`, { method: "PROPFIND" });
  const unknown = { rpc_method: "_OTHER", rpc_response_status_code: "UNIMPLEMENTED", rpc_system_name: "grpc" };
  const notRouted = { ...unknown, rpc_response_status_code: "NOT_FOUND", rpc_system_name: "rest" };
  const noPage = { http_route: "_OTHER", http_request_method: "_OTHER", http_response_status_code: "404" };
  const counts = async (): Promise<unknown[]> => {
    const { valueOf } = await scraped();
    const calls = [unknown, notRouted].map((labels) => valueOf("tenantry_calls_total", labels));
    return [...calls, valueOf("tenantry_http_requests_total", noPage)];
  };
  await expect.poll(counts).toEqual([1, 1, 1]);
  expect((await scraped()).text).not.toMatch(/secret/i);
});

test("each page is counted by its route", async () => {
  const paths = routes.map((route) => route.replace("{page}", "page-of-its-own"));
  for (const path of paths) await (await fetch(server.url + path, { redirect: "manual" })).text();
  await expect
    .poll(async () => {
      const { samples } = await scraped();
      const counts = samples.filter(({ name }) => name === "http_server_request_duration_seconds_count");
      return counts.map(({ labels }) => labels["http_route"]).filter((route) => route !== "_OTHER");
    })
    .toEqual(expect.arrayContaining([...routes]));
  expect((await scraped()).text).not.toContain("page-of-its-own");
});

test("what is served beside calls has a route", async () => {
  const { samples } = await scraped();
  const answered = samples.filter(
    ({ name, labels }) =>
      name === "tenantry_http_requests_total" &&
      labels["http_route"] === "_OTHER" &&
      labels["http_response_status_code"] !== "404",
  );
  expect(answered).toEqual([]);
});

describe("what the parts of a server do is measured:", () => {
  let now: Scraped;
  beforeAll(async () => {
    const { orgs, members } = createApi("Connect", server.url, server.operatorKey);
    await orgs.createOrg({ org: { name: "measured" } });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        members.createMember({ parentPath: "orgs/measured", member: { name: `member-${index}` } }),
      ),
    );
    await members.listMembers({ parentPath: "orgs/measured" });
    now = await scraped();
  });

  const sumOf = (name: string, labels: Readonly<Record<string, string>> = {}): number =>
    now.samples
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);

  test("pools of connections", () => {
    for (const pool of ["reads", "lookups", "writes", "maintenance"]) {
      expect(sumOf("tenantry_database_connections_limit", { pool })).toBeGreaterThan(0);
      expect(sumOf("tenantry_database_connections", { pool })).toBeLessThanOrEqual(
        sumOf("tenantry_database_connections_limit", { pool }),
      );
    }
    expect(now.valueOf("tenantry_database_connections", { pool: "writes", state: "idle" })).toBeGreaterThan(0);
    expect(now.valueOf("tenantry_database_waiting", { pool: "writes" })).toBe(0);
    expect(now.valueOf("tenantry_database_wait_seconds_count", { pool: "writes" })).toBeGreaterThan(0);
  });

  test("statements, by their names", () => {
    expect(sumOf("tenantry_database_statement_seconds_count", { statement: "find_api_keys" })).toBeGreaterThan(0);
    expect(sumOf("tenantry_database_statement_seconds_count", { statement: "insert members" })).toBeGreaterThanOrEqual(
      20,
    );
    expect(sumOf("tenantry_database_statement_seconds_sum", { statement: "commit" })).toBeGreaterThan(0);
    expect(now.valueOf("tenantry_database_statement_seconds_count", { statement: "_OTHER" })).toBeUndefined();
  });

  test("access snapshots", () => {
    expect(now.valueOf("tenantry_access_snapshots")).toBeGreaterThan(0);
    expect(now.valueOf("tenantry_access_snapshot_bytes")).toBeGreaterThan(10_000);
    expect(now.valueOf("tenantry_access_snapshot_uses_total", { outcome: "current" })).toBeGreaterThanOrEqual(20);
    expect(now.valueOf("tenantry_access_snapshot_uses_total", { outcome: "read" })).toBeGreaterThan(0);
  });

  test("queues, and the writes that share a transaction", () => {
    expect(now.valueOf("tenantry_queue_waiting", { queue: "writes" })).toBe(0);
    expect(now.valueOf("tenantry_queue_running", { queue: "lists" })).toBe(0);
    expect(now.valueOf("tenantry_queue_wait_seconds_count", { queue: "writes" })).toBeGreaterThan(0);
    expect(now.valueOf("tenantry_write_group_size_sum")).toBeGreaterThanOrEqual(20);
    expect(now.valueOf("tenantry_write_group_size_count")).toBeLessThan(
      now.valueOf("tenantry_write_group_size_sum") ?? 0,
    );
  });

  test("jobs", async () => {
    await expect
      .poll(async () => (await scraped()).valueOf("tenantry_job_run_seconds_count", { job_name: "sweep" }))
      .toBeGreaterThan(0);
    expect(now.valueOf("tenantry_job_failures_total", { job_name: "sweep" })).toBe(0);
    // A job is measured before its first run, too.
    expect(now.valueOf("tenantry_job_run_seconds_count", { job_name: "signing-keys" })).toBeGreaterThanOrEqual(0);
  });

  test("connections of clients, the process and the event loop", async () => {
    const session = await openHttp2(server.url);
    const { valueOf } = await scraped();
    expect(valueOf("tenantry_client_connections", { protocol: "h2" })).toBeGreaterThanOrEqual(1);
    expect(valueOf("tenantry_client_connections", { protocol: "h1" })).toBeGreaterThanOrEqual(1);
    expect(valueOf("tenantry_client_requests", { protocol: "h2" })).toBe(0);
    session.close();
    expect(valueOf("process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
    expect(valueOf("nodejs_eventloop_lag_p99_seconds")).toBeDefined();
    expect(sumOf("tenantry_build_info")).toBe(1);
  });
});

test("docs/operating.md says what to do about each alert", () => {
  const file = readFileSync(join(import.meta.dirname, "../../deploy/prometheus/rules.yaml"), "utf8");
  const page = readFileSync(join(import.meta.dirname, "../../docs/operating.md"), "utf8");
  const alerts = Array.from(file.matchAll(/^ +- alert: (\w+)$/gm), ([, alert]) => alert);
  expect(alerts).not.toEqual([]);
  expect(Array.from(page.matchAll(/^### (Tenantry\w+)\n\n\S/gm), ([, alert]) => alert)).toEqual(alerts);
});

test("docs/operating.md lists each metric with its type and labels", async () => {
  const { types, samples } = await scraped();
  const labelsOf = (metric: string): string[] => {
    const lines = samples.filter(
      ({ name }) => name.replace(/_(?:bucket|sum|count)$/, "") === metric || name === metric,
    );
    return [...new Set(lines.flatMap(({ labels }) => Object.keys(labels)))]
      .filter((label) => label !== "le")
      .toSorted();
  };
  const own = [...types].filter(([name]) => !/^(?:process|nodejs)_/.test(name));
  const page = readFileSync(join(import.meta.dirname, "../../docs/operating.md"), "utf8");
  const rows = page.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram|summary) \|([^|]*)\|/gm);
  const listed = Array.from(rows, ([, name = "", type = "", labels = ""]) => [
    name,
    type,
    Array.from(labels.matchAll(/`(\w+)`/g), ([, label = ""]) => label).toSorted(),
  ]);
  expect(listed).toEqual(own.map(([name, type]) => [name, type, labelsOf(name)]));
});

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

test.skipIf(!hasPromtool)("promtool finds nothing to complain about", async () => {
  const { text } = await scraped();
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
});
