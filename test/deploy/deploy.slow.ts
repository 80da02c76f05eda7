// What deploy/ has to run the service with, by the tools that read it: real proxies in front of two servers, and linters for the rest.
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Transport, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { ChangesService } from "../../gen/iam/v1alpha/change_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { createApi } from "../support/api.ts";
import { proxies, run, startProxy } from "../support/deployed-proxy.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";

const root = resolve(import.meta.dirname, "../..");
const deploy = join(root, "deploy");

/** Runs a test if there is the program, which is not Debian's alone; says so otherwise. */
function testWith(program: string, title: string, body: () => void): void {
  const isMissing = run(program, "--help").error !== undefined;
  if (isMissing) console.warn(`SKIPPED, for want of ${program}: ${title}`);
  test.skipIf(isMissing)(title, body);
}

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tenantry-deploy-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

testWith("hadolint", "hadolint accepts the Dockerfile", () => {
  const { status, stdout } = run("hadolint", join(deploy, "docker/Dockerfile"));
  expect([status, stdout]).toEqual([0, ""]);
});

testWith("systemd-analyze", "systemd accepts the unit, and finds little to attack in it", () => {
  const directory = makeDirectory();
  const unit = join(directory, "tenantry.service");
  const text = readFileSync(join(deploy, "systemd/tenantry.service"), "utf8");
  writeFileSync(unit, text.replaceAll("/opt/tenantry", root));
  const verify = () => run("systemd-analyze", "verify", unit);
  expect(verify()).toMatchObject({ status: 0, stdout: "", stderr: "" });
  mkdirSync(`${unit}.d`);
  copyFileSync(join(deploy, "systemd/shared-secrets.conf"), join(`${unit}.d`, "shared-secrets.conf"));
  expect(verify()).toMatchObject({ status: 0, stdout: "", stderr: "" });
  // In tenths.
  expect(run("systemd-analyze", "security", "--offline=true", "--threshold=20", unit).status).toBe(0);
});

test("the unit gets the files of root that the page names", () => {
  const page = readFileSync(join(root, "docs/running.md"), "utf8");
  const conf = readFileSync(join(deploy, "systemd/shared-secrets.conf"), "utf8");
  const loaded = [...conf.matchAll(/^LoadCredential=(\S+):(\S+)$/gm)].map(([, name, source]) => ({ name, source }));
  expect(loaded).toEqual([
    { name: "secret-keys", source: "/etc/tenantry/secret-keys" },
    { name: "ca.crt", source: "/etc/tenantry/ca.crt" },
  ]);
  for (const { source } of loaded) expect(page).toContain(source);
  // In settings, the user of the service must be able to read them.
  expect(page).toContain("sslrootcert=/run/credentials/tenantry.service/ca.crt");
  expect(page).not.toMatch(/=\/etc\/tenantry\//);
});

test("the chart has the rules of Prometheus", () => {
  expect(readFileSync(join(deploy, "helm/tenantry/rules.yaml"), "utf8")).toBe(
    readFileSync(join(deploy, "prometheus/rules.yaml"), "utf8"),
  );
});

testWith("helm", "the chart renders what Kubernetes accepts", () => {
  const chart = join(deploy, "helm/tenantry");
  const required = ["--set", "issuer=https://iam.example.com", "--set", "secret.name=tenantry"];
  const secret = ["--set", "secretSettings.TENANTRY_SMTP_URL.name=mail,secretSettings.TENANTRY_SMTP_URL.key=smtp-url"];
  const monitored = [
    "--set",
    "serviceMonitor.enabled=true,prometheusRule.enabled=true,settings.TENANTRY_LOG_LEVEL=warn",
  ];
  expect(run("helm", "lint", "--strict", chart, ...required).status).toBe(0);
  expect(run("helm", "template", "iam", chart).stderr).toContain("issuer is required");
  const file = join(makeDirectory(), "rendered.yaml");
  const withSecret = run("helm", "template", "iam", chart, ...required, ...secret).stdout;
  expect(withSecret).toMatch(
    /- name: TENANTRY_SMTP_URL\s+valueFrom:\s+secretKeyRef:\s+name: "?mail"?\s+key: "?smtp-url"?\s/,
  );
  for (const options of [required, [...required, ...secret, ...monitored]]) {
    const { status, stdout, stderr } = run("helm", "template", "iam", chart, ...options);
    expect([status, stderr]).toEqual([0, ""]);
    writeFileSync(file, stdout);
    if (run("kubernetes-validate", "--help").error !== undefined) continue;
    expect(run("kubernetes-validate", "--strict", "-k", "1.30", file)).toMatchObject({ status: 0 });
  }
});

/** The address that a client has; it claims another one. */
const clientAddress = "127.0.0.2";
const claim = {
  "x-forwarded-for": "203.0.113.7",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};

const nodeOptions = { rejectUnauthorized: false, localAddress: clientAddress };

/** Over HTTP/2. */
async function statusOf(url: string, path: string, headers = {}): Promise<number> {
  const session = connect(url, nodeOptions);
  session.on("error", () => undefined);
  try {
    const stream = session.request({ ":path": path, ...headers });
    stream.resume();
    const [answer] = (await once(stream, "response")) as [Record<string, unknown>];
    return Number(answer[":status"]);
  } finally {
    session.destroy();
  }
}

describe.each(proxies)("$program", (proxy) => {
  let servers: readonly TestServer[];
  let url: string;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const traces = { url: "http://127.0.0.1:1/v1/traces", sampler: "parentbased_always_off", share: 1 } as const;
    const settings = { issuer, traces, trustedProxies: ["127.0.0.1/32"] };
    const first = await startTestServer(settings);
    const { databaseUrl, secretKeysFile } = first;
    const second = await startTestServer({ ...settings, databaseUrl, secretKeysFile });
    servers = [first, second];
    const started = await startProxy(proxy, [new URL(first.url).host, new URL(second.url).host]);
    url = started.url;
    stop = async () => {
      await started.stop();
      await second.close();
      await first.close();
    };
    await createApi("REST", first.url, first.operatorKey).orgs.createOrg({ org: { name: "acme" } });
    await vi.waitFor(async () => expect(await statusOf(url, "/readyz")).toBe(200), { timeout: 300_000 });
  });
  afterAll(() => stop());

  const lines = () => servers.flatMap(({ logLines }) => logLines).map((line) => JSON.parse(line) as LogLine);
  const bearer = () => ({ authorization: `Bearer ${servers[0]?.operatorKey}` });

  test("REST, with the address of the client and not what it claims", async () => {
    expect(await statusOf(url, "/iam/v1alpha/orgs/acme", { ...bearer(), ...claim })).toBe(200);
    await expect
      .poll(lines)
      .toContainEqual(expect.objectContaining({ path: "/iam/v1alpha/orgs/acme", address: clientAddress, status: 200 }));
    // Strangers do not decide what is traced.
    expect(lines().filter((line) => "trace_id" in line)).toEqual([]);
  });

  const transports: readonly (readonly [string, (options: { baseUrl: string }) => Transport])[] = [
    ["Connect", (options) => createConnectTransport({ ...options, httpVersion: "1.1", nodeOptions })],
    ["Connect over HTTP/2", (options) => createConnectTransport({ ...options, httpVersion: "2", nodeOptions })],
    ["gRPC-Web", (options) => createGrpcWebTransport({ ...options, httpVersion: "1.1", nodeOptions })],
    ["gRPC", (options) => createGrpcTransport({ ...options, nodeOptions })],
  ];
  test.each(transports)("%s, and a stream", async (_name, createTransport) => {
    for (const { logLines } of servers) logLines.length = 0;
    const transport = createTransport({ baseUrl: url });
    const options = { headers: { ...bearer(), ...claim } };
    await expect(createClient(OrgsService, transport).getOrg({ path: "orgs/acme" }, options)).resolves.toMatchObject({
      name: "acme",
    });
    await expect(createClient(OrgsService, transport).getOrg({ path: "orgs/none" }, options)).rejects.toThrow("none");
    const stopping = new AbortController();
    const watch = createClient(ChangesService, transport).watchChanges(
      { parentPath: "orgs/acme" },
      { ...options, signal: stopping.signal },
    );
    // What is there comes while the stream is open.
    const first = await watch[Symbol.asyncIterator]().next();
    expect(first.done).toBe(false);
    stopping.abort();
    await expect
      .poll(lines)
      .toContainEqual(
        expect.objectContaining({ rpc: "iam.v1alpha.OrgsService/GetOrg", code: "OK", address: clientAddress }),
      );
  });

  test("a write that a server has seen is not repeated at another one", async () => {
    const seen: string[] = [];
    const startBreaking = async (): Promise<string> => {
      const server = createServer((request, response) => {
        if (request.url === "/readyz") return void response.end();
        seen.push(request.method ?? "");
        request.socket.destroy();
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      onTestFinished(() => void server.close());
      return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const { url: breaking, stop: stopBreaking } = await startProxy(proxy, [
      await startBreaking(),
      await startBreaking(),
    ]);
    onTestFinished(stopBreaking);
    await vi.waitFor(async () => expect(await statusOf(breaking, "/readyz")).toBe(200), { timeout: 300_000 });
    const writes = ["DELETE", "PUT", "POST", "PATCH"];
    for (const method of writes) {
      // HAProxy refuses the stream of HTTP/2 instead, and leaves it to the client to try again.
      const status = await statusOf(breaking, "/iam/v1alpha/orgs/acme", { ":method": method }).catch(String);
      expect(String(status)).toMatch(/^502$|REFUSED_STREAM/);
    }
    expect(seen).toEqual(writes);
  });
});

interface LogLine {
  readonly path?: string;
  readonly address?: string;
}
