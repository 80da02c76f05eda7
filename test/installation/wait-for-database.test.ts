// Starts the service while its database does not answer.
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import pg from "pg";
import pino from "pino";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { createWhenDatabaseAnswers } from "../../src/installation/wait-for-database.ts";
import { type RunningServer, startServer } from "../../src/server.ts";
import { createApi } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { startSilentProxy } from "../support/silent-proxy.ts";
import { createTestDatabase } from "../support/test-database.ts";

interface Starting {
  readonly server: Promise<RunningServer>;
  /** Returns the address at which it answers while it waits. */
  waitingUrl(): Promise<string>;
  readonly stop: AbortController;
  readonly lines: string[];
}

async function start(databaseUrl: string): Promise<Starting> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "tenantry-waiting-"));
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const config = { ...readConfig({}), port: 0, databaseUrl, dataDirectory };
  const stop = new AbortController();
  const server = startServer(config, logger, () => {}, undefined, undefined, stop.signal);
  // A test may see its outcome later.
  server.catch(() => {});
  onTestFinished(async () => {
    stop.abort();
    await server.then((running) => running.close()).catch(() => {});
    await rm(dataDirectory, { recursive: true, force: true });
  });
  const waitingUrl = () =>
    expect
      .poll(() => /waiting for the database; (http:\S+) answers 503/.exec(lines.join(""))?.[1])
      .toBeDefined()
      .then(() => /waiting for the database; (http:\S+)/.exec(lines.join(""))?.[1] ?? "");
  return { server, waitingUrl, stop, lines };
}

/** Refuses each connection with an error, as PostgreSQL does. */
async function refuseOn(port: number, code: string, message: string): Promise<net.Server> {
  const fields = `SFATAL\0VFATAL\0C${code}\0M${message}\0\0`;
  const answer = Buffer.concat([Buffer.from("E"), Buffer.alloc(4), Buffer.from(fields)]);
  answer.writeInt32BE(answer.length - 1, 1);
  const server = net.createServer((socket) => socket.on("error", () => {}).once("data", () => socket.end(answer)));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}

async function statusOf(url: string): Promise<number> {
  return (await fetch(url)).status;
}

test("a server waits for a database that refuses connections and then starts up, and answers 503 until it is there", async () => {
  const { url: databaseUrl, drop } = await createTestDatabase();
  onTestFinished(drop);
  const port = await freePort();
  const through = new URL(databaseUrl);
  through.hostname = "127.0.0.1";
  through.port = String(port);
  through.searchParams.delete("host");
  const { server, waitingUrl, lines } = await start(through.href);
  const url = await waitingUrl();
  expect(await statusOf(`${url}/healthz`)).toBe(200);
  expect(await statusOf(`${url}/readyz`)).toBe(503);
  const response = await fetch(`${url}/iam/v1alpha/orgs`, { method: "POST", body: "{}" });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await response.json()).toMatchObject({ error: { status: "UNAVAILABLE", details: [{ reason: "NOT_READY" }] } });
  for (const protocol of ["Connect", "gRPC", "gRPC-Web"] as const) {
    await expect(createApi(protocol, url, "any").orgs.listOrgs({})).rejects.toMatchObject({ code: Code.Unavailable });
  }

  const refusing = await refuseOn(port, "57P03", "the database system is starting up");
  let refused = 0;
  refusing.on("connection", () => refused++);
  await expect.poll(() => refused).toBeGreaterThan(1);
  expect(await statusOf(`${url}/readyz`)).toBe(503);
  await new Promise((resolve) => refusing.close(resolve));

  const proxy = await startSilentProxy(databaseUrl, port);
  onTestFinished(() => proxy.close());
  const running = await server;
  expect(running.url).toBe(url);
  await expect.poll(() => statusOf(`${url}/readyz`)).toBe(200);
  expect(await statusOf(`${url}/iam/v1alpha/orgs`)).toBe(401);
  expect(lines.filter((line) => line.includes("waiting for the database"))).toHaveLength(1);
  // While the database still answers.
  await running.close();
});

test("a server that waits ends when it is stopped, and closes its port", async () => {
  const { server, waitingUrl, stop } = await start(`postgres://nobody@127.0.0.1:${await freePort()}/none`);
  const url = await waitingUrl();
  stop.abort();
  await expect(server).rejects.toBe(stop.signal.reason);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
});

test("a step that loses the database is repeated, whatever error explains it, and other errors end the start", async () => {
  const port = await freePort();
  let waits = 0;
  const onWait = () => Promise.resolve({ url: `http://127.0.0.1:${++waits}` });
  const logger = pino({ level: "silent" });
  const whenAnswers = createWhenDatabaseAnswers({ logger, onWait, signal: new AbortController().signal });
  const connect = () =>
    new pg.Client({ host: "127.0.0.1", port }).connect().catch((cause: unknown) => {
      throw new Error("the database could not be migrated", { cause });
    });
  let runs = 0;
  expect(await whenAnswers(async () => (++runs < 3 ? connect() : "migrated"))).toBe("migrated");
  expect(waits).toBe(2);
  await expect(whenAnswers(() => Promise.reject(new Error("the database is newer")))).rejects.toThrow("is newer");
  expect(waits).toBe(2);
});

describe("a server does not wait for a database that", () => {
  test("does not exist", async () => {
    const url = new URL(inject("serverUrl"));
    url.pathname = "/no-such-database";
    const { server, lines } = await start(url.href);
    await expect(server).rejects.toMatchObject({
      message: "Cannot use the database in DATABASE_URL.",
      cause: { message: 'database "no-such-database" does not exist' },
    });
    expect(lines.join("")).not.toContain("waiting");
  });

  test("refuses the password", async () => {
    const port = await freePort();
    const refusing = await refuseOn(port, "28P01", 'password authentication failed for user "nobody"');
    onTestFinished(() => void refusing.close());
    const { server, lines } = await start(`postgres://nobody:wrong@127.0.0.1:${port}/none`);
    await expect(server).rejects.toMatchObject({ cause: { code: "28P01" } });
    expect(lines.join("")).not.toContain("waiting");
  });
});
