import { on, once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { status as grpcStatus } from "@grpc/grpc-js";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import {
  type HealthCheckResponse,
  Health as HealthService,
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthListRequestSchema,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import { MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { createHealth, type Health, type HealthOptions } from "../../../src/http/health/health.ts";
import { answerHealthPage } from "../../../src/http/health/health-pages.ts";
import { registerHealth } from "../../../src/http/health/health-service.ts";
import { callServerStream, callUnary, openGrpc } from "../grpc-client.ts";
import { callHttp2, openHttp2 } from "../http2-client.ts";
import { endlessMs, startListener, type StartedListener } from "../start-listener.ts";

/** A health check whose outcome the test switches. */
function createSwitch(): {
  check: () => Promise<void>;
  fail: () => void;
  hang: () => void;
  mend: () => void;
  runs: number;
} {
  let outcome = (): Promise<void> => Promise.resolve();
  const control = {
    runs: 0,
    check: () => {
      control.runs += 1;
      return outcome();
    },
    fail: () => void (outcome = () => Promise.reject(new Error("password authentication failed for user secret"))),
    hang: () => void (outcome = () => new Promise(() => undefined)),
    mend: () => void (outcome = () => Promise.resolve()),
  };
  return control;
}

function startServer(health: Health): Promise<StartedListener> {
  const rpc = connectNodeAdapter({
    routes: (router) => registerHealth(router, health, [MembersService]),
    interceptors: [
      () => () => {
        throw new Error("health needs no credentials");
      },
    ],
  });
  return startListener((request, response) => answerHealthPage(health, request, response) ?? rpc(request, response));
}

const healthOf = (checks: HealthOptions["checks"]) => createHealth({ checks, checkTimeoutMs: 100 });

describe("/healthz and /readyz", () => {
  it("respond with ok without authentication", async () => {
    await using server = await startServer(healthOf({ database: createSwitch().check }));
    for (const path of ["/healthz", "/readyz", "/readyz?verbose"]) {
      const answered = await fetch(server.url + path);
      expect([answered.status, await answered.json()]).toEqual([200, { status: "ok" }]);
      expect(answered.headers.get("content-type")).toBe("application/json");
      expect(answered.headers.get("cache-control")).toBe("no-store");
    }
  });

  it("ignore other paths", async () => {
    await using server = await startServer(healthOf({}));
    expect((await fetch(`${server.url}/healthz/more`)).status).toBe(404);
  });

  it("respond to HEAD without a body, over HTTP/1.1 and HTTP/2", async () => {
    await using server = await startServer(healthOf({}));
    const overHttp1 = await fetch(`${server.url}/readyz`, { method: "HEAD" });
    const session = await openHttp2(server.url);
    const overHttp2 = await callHttp2(session, { ":path": "/readyz", ":method": "HEAD" });
    session.close();
    expect([overHttp1.status, overHttp1.headers.get("content-length"), await overHttp1.text()]).toEqual([
      200,
      "15",
      "",
    ]);
    expect([overHttp2.status, overHttp2.headers["content-length"], overHttp2.body]).toEqual([200, "15", ""]);
  });

  it("answer OPTIONS with the methods that there are", async () => {
    await using server = await startServer(healthOf({}));
    const answered = await fetch(`${server.url}/healthz`, { method: "OPTIONS" });
    expect([answered.status, answered.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  });

  it.each(["POST", "DELETE"])("reject %s", async (method) => {
    await using server = await startServer(healthOf({}));
    const answered = await fetch(`${server.url}/healthz`, { method });
    expect([answered.status, answered.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(await answered.json()).toMatchObject({
      error: { code: 405, message: "/healthz answers GET and HEAD only." },
    });
  });

  it("name the failed check, but not the message of the driver", async () => {
    const database = createSwitch();
    const reported: unknown[] = [];
    const health = createHealth({
      checks: { database: database.check, disk: createSwitch().check },
      checkTimeoutMs: 100,
      onCheckFailed: (name, error) => reported.push(name, error),
    });
    await using server = await startServer(health);
    database.fail();
    const answered = await fetch(`${server.url}/readyz`);
    const text = await answered.text();
    expect([answered.status, JSON.parse(text)]).toMatchObject([
      503,
      {
        error: {
          status: "UNAVAILABLE",
          message: "The database check failed.",
          details: [{ reason: "NOT_READY", metadata: { database: "The database check failed." } }],
        },
      },
    ]);
    expect(text).not.toContain("secret");
    expect(reported).toEqual(["database", expect.objectContaining({ message: expect.stringContaining("secret") })]);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    database.mend();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  it("do not wait for a check that hangs, and do not start it a second time", async () => {
    const database = createSwitch();
    database.hang();
    await using server = await startServer(healthOf({ database: database.check }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${server.url}/readyz`)));
    expect(await answers[0]?.json()).toMatchObject({
      error: { message: "The database check did not end within 100 ms." },
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect(database.runs).toBe(1);
  });

  it("are live but not ready while the server drains", async () => {
    const health = healthOf({});
    await using server = await startServer(health);
    health.startDraining();
    const answered = await fetch(`${server.url}/readyz`);
    expect([answered.status, await answered.json()]).toMatchObject([
      503,
      { error: { message: "The server is shutting down." } },
    ]);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});

describe("grpc.health.v1.Health", () => {
  const check = (service: string) => create(HealthCheckRequestSchema, { service });

  it("checks the server and each service", async () => {
    const database = createSwitch();
    await using server = await startServer(healthOf({ database: database.check }));
    using client = openGrpc(server.port);
    for (const expected of [ServingStatus.SERVING, ServingStatus.NOT_SERVING]) {
      for (const service of ["", "iam.v1alpha.MembersService"]) {
        const { status } = await callUnary(client, HealthService.method.check, check(service));
        expect(status).toBe(expected);
      }
      database.fail();
    }
  });

  it("returns NOT_FOUND for an unknown service", async () => {
    await using server = await startServer(healthOf({}));
    using client = openGrpc(server.port);
    await expect(callUnary(client, HealthService.method.check, check("no.Such"))).rejects.toMatchObject({
      code: grpcStatus.NOT_FOUND,
    });
  });

  it("lists the services", async () => {
    await using server = await startServer(healthOf({}));
    using client = openGrpc(server.port);
    const { statuses } = await callUnary(client, HealthService.method.list, create(HealthListRequestSchema));
    expect(Object.entries(statuses).map(([name, { status }]) => [name, status])).toEqual([
      ["", ServingStatus.SERVING],
      ["iam.v1alpha.MembersService", ServingStatus.SERVING],
    ]);
  });

  it("streams changes, and ends when the server drains", async () => {
    const database = createSwitch();
    const health = healthOf({ database: database.check });
    await using server = await startServer(health);
    using client = openGrpc(server.port);
    const watch = callServerStream(client, HealthService.method.watch, check("iam.v1alpha.MembersService"));
    const told: number[] = [];
    watch.on("data", ({ status }: HealthCheckResponse) => told.push(status));
    const ended = once(watch, "end");
    await expect.poll(() => told).toEqual([ServingStatus.SERVING]);
    database.fail();
    await expect.poll(() => told).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
    database.mend();
    await expect.poll(() => told).toHaveLength(3);
    health.startDraining();
    await server.listener.close(endlessMs);
    await ended;
    expect(told.slice(2)).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  });

  it("ends the streams of watchers who know that it is not serving when it drains", async () => {
    const database = createSwitch();
    database.fail();
    const health = healthOf({ database: database.check });
    await using server = await startServer(health);
    using client = openGrpc(server.port);
    const watches = ["", "no.Such"].map((name) => callServerStream(client, HealthService.method.watch, check(name)));
    const told: number[] = [];
    for (const watch of watches) watch.on("data", ({ status }: HealthCheckResponse) => told.push(status));
    const ended = Promise.all(watches.map((watch) => once(watch, "end")));
    await expect.poll(() => told).toHaveLength(2);
    health.startDraining();
    await ended;
    expect(new Set(told)).toEqual(new Set([ServingStatus.NOT_SERVING, ServingStatus.SERVICE_UNKNOWN]));
    expect(told).toHaveLength(2);
  });

  it("sends SERVICE_UNKNOWN to a watcher, and keeps the stream open", async () => {
    const health = healthOf({});
    await using server = await startServer(health);
    using client = openGrpc(server.port);
    const watch = callServerStream(client, HealthService.method.watch, check("no.Such"));
    for await (const [{ status }] of on(watch, "data", { close: ["end"] })) {
      expect(status).toBe(ServingStatus.SERVICE_UNKNOWN);
      health.startDraining();
    }
  });

  it("checks once for all watchers", async () => {
    const database = createSwitch();
    await using server = await startServer(healthOf({ database: database.check }));
    using client = openGrpc(server.port);
    const told: number[] = [];
    for (let count = 0; count < 20; count++) {
      const watch = callServerStream(client, HealthService.method.watch, check(""));
      watch.on("error", () => undefined);
      watch.on("data", ({ status }: HealthCheckResponse) => told.push(status));
    }
    await expect.poll(() => told).toHaveLength(20);
    const before = database.runs;
    database.fail();
    await expect.poll(() => told).toHaveLength(40);
    // One, and those that follow while the test is held up.
    expect(database.runs - before).toBeLessThan(told.length / 2);
  });

  it("stops the checks of a watcher that disconnects", async () => {
    const database = createSwitch();
    await using server = await startServer(healthOf({ database: database.check }));
    using client = openGrpc(server.port);
    const watch = callServerStream(client, HealthService.method.watch, check(""));
    watch.on("error", () => undefined);
    await once(watch, "data");
    watch.cancel();
    await server.listener.close(endlessMs);
    expect(database.runs).toBe(1);
  });
});
