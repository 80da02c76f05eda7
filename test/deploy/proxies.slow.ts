// What callers see while a proxy of deploy/ takes a new certificate, and while a server behind it is replaced: what docs/running.md says.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createApi } from "../support/api.ts";
import { type Served, serveTenantry } from "../support/command.ts";
import { type DeployedProxy, proxies, startProxy } from "../support/deployed-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type Calls, type Client, createClients, startCalls, unchecked } from "./clients-without-retry.ts";

interface Place extends DeployedProxy {
  readonly program: string;
  readonly clients: readonly Client[];
  readonly projects: readonly string[];
}

async function certificateOf(url: string): Promise<string> {
  const { port, hostname: host } = new URL(url);
  const socket = connect({ port: Number(port), host, ...unchecked });
  await once(socket, "secureConnect");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

describe.skipIf(proxies.length === 0)("behind the proxies of deploy/", () => {
  const servers: Served[] = [];
  const places: Place[] = [];
  const closers: (() => Promise<unknown>)[] = [];
  let startServer: (index: number) => Promise<Served>;

  beforeAll(async () => {
    const { url: databaseUrl, drop } = await createTestDatabase();
    closers.push(drop);
    const directory = await mkdtemp(join(tmpdir(), "tenantry-behind-"));
    closers.push(() => rm(directory, { recursive: true, force: true }));
    const secretKeys = join(directory, "secret-keys");
    await writeFile(secretKeys, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    const ports = [await freePort(), await freePort()] as const;
    const settings = {
      DATABASE_URL: databaseUrl,
      TENANTRY_SECRET_KEYS_FILE: secretKeys,
      TENANTRY_ISSUER: "https://iam.example.com",
      TENANTRY_TRUSTED_PROXIES: "127.0.0.1/32",
      // Longer than HAProxy takes to see it, also on a busy machine.
      TENANTRY_SHUTDOWN_DELAY_MS: "10000",
    };
    startServer = (index) =>
      serveTenantry({
        cwd: directory,
        env: { ...settings, PORT: String(ports[index]), TENANTRY_DATA: join(directory, String(index)) },
      });
    closers.push(() => Promise.all(servers.map((server) => server.signal("SIGKILL"))));
    for (const index of ports.keys()) servers.push(await startServer(index));
    const key = readFileSync(join(directory, "0/operator-key"), "utf8").trim();
    const { orgs, projects } = createApi("REST", servers[0]?.url ?? "", key);
    for (const proxy of proxies) {
      const { path: parentPath } = await orgs.createOrg({ org: { name: proxy.program } });
      const started = await startProxy(proxy, [`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`]);
      closers.push(() => started.stop());
      const clients = createClients(started.url, key);
      closers.push(async () => clients.forEach((client) => client.close()));
      const requests = clients.map((_client, index) => ({ project: { name: `project-${index}` } }));
      const made = await projects.batchCreateProjects({ parentPath, requests });
      const place = { ...started, program: proxy.program, clients, projects: made.projects.map(({ path }) => path) };
      places.push(place);
      await vi.waitFor(() => clients[0]?.read(place.projects[0] ?? ""), { timeout: 300_000 });
    }
  });
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  });

  /** Does something while all clients call. Returns what failed, by the proxy and the client. */
  async function duringCalls(action: () => Promise<void>): Promise<Map<string, Awaited<ReturnType<Calls["stop"]>>>> {
    const running = places.map(({ clients, projects }) => startCalls(clients, projects));
    const untilMade = async (count: number): Promise<void> => {
      const before = running.map((calls) => calls.made());
      await expect
        .poll(() => Math.min(...running.map((calls, index) => calls.made() - (before[index] ?? 0))))
        .toBeGreaterThan(count);
    };
    await untilMade(20);
    await action();
    await untilMade(20);
    const failures = await Promise.all(running.map((calls) => calls.stop()));
    return new Map(places.map(({ program }, index) => [program, failures[index] ?? {}]));
  }

  test("a new certificate fails no call on a new connection, nor on one of HTTP/1.1 that HAProxy keeps", async () => {
    const failures = await duringCalls(async () => {
      for (const { url, renew } of places) {
        const former = await certificateOf(url);
        renew();
        await expect.poll(() => certificateOf(url)).not.toBe(former);
      }
    });
    for (const [program, { "HTTP/1.1, a connection each": ofNew, "HTTP/1.1, kept": kept, ...ofHttp2 }] of failures) {
      expect([program, ofNew]).toEqual([program, []]);
      if (program === "haproxy") expect(kept).toEqual([]);
      const others = [...(kept ?? []), ...Object.values(ofHttp2).flat()];
      expect(others.filter((failure) => !closed.test(failure))).toEqual([]);
    }
  });

  test("a server that is replaced fails no call, but gRPC behind nginx may not reach it", async () => {
    const failures = await duringCalls(async () => {
      expect(await servers[0]?.signal("SIGTERM")).toBe(0);
      servers[0] = await startServer(0);
    });
    for (const [program, ofClients] of failures) {
      const { gRPC: grpc = [], ...others } = ofClients;
      expect([program, others]).toEqual([program, noFailures(others)]);
      expect(program === "nginx" ? grpc.filter((failure) => !closed.test(failure)) : grpc).toEqual([]);
    }
  });
});

/** What clients say of a connection that was closed while they sent. */
const closed = /socket hang up|ECONNRESET|EPIPE|REFUSED_STREAM|UNAVAILABLE/;

/** What is expected of clients of which none failed. */
const noFailures = (clients: object): object => Object.fromEntries(Object.keys(clients).map((name) => [name, []]));
