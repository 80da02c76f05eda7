// Tests that one client address cannot take all connections, nor unlimited requests behind a proxy.
import { once } from "node:events";
import { constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createAddressLimits } from "../../src/http/address-limits.ts";
import { createListener } from "../../src/http/listener/listener.ts";
import type { HttpResponse } from "../../src/http/http-messages.ts";
import { callHttp2, openHttp2 } from "./http2-client.ts";
import { openRaw } from "./raw-client.ts";

const millis = 5_000;

/** Starts a server whose requests to `/wait` are answered by the test. */
async function start(changed: {
  trustedProxies?: string[];
  maxRequests?: number;
  maxInAll?: number;
  anonymousPerSecond?: number;
  maxConnections?: number;
}) {
  const lines: object[] = [];
  const warn = (line: object, message: string) => void lines.push({ ...line, message });
  const { trustedProxies = [], maxRequests = 2, maxInAll = 100, anonymousPerSecond = 0, maxConnections = 2 } = changed;
  const logger = { warn: warn as never };
  const maxStreams = 200;
  const rates = { maxConnections, maxRequests, anonymousPerSecond, maxStreams };
  const { limitRequests, ...ofConnections } = createAddressLimits({
    trustedProxies,
    ...rates,
    logger,
    logIntervalMs: millis,
  });
  const waiting: HttpResponse[] = [];
  const handled: string[] = [];
  const limits = { maxHeaderBytes: 16_384, maxConcurrentStreams: maxStreams, maxConnections: maxInAll };
  const handle = limitRequests((request, response, pace) => {
    handled.push(request.url ?? "");
    if (request.url === "/throw") throw new Error("a defect");
    if (request.url === "/known" || request.url === "/wait") pace.markKnown();
    if (request.url === "/wait") waiting.push(response);
    else response.end("ok");
  });
  const listener = createListener({
    handler: (request, response) => handle(request, response, {}),
    limits: { ...limits, headersTimeoutMs: millis, requestTimeoutMs: millis, keepAliveTimeoutMs: millis },
    ...ofConnections,
    onError: (error) => void lines.push({ message: String(error) }),
  });
  const { port } = await listener.listen(0, "127.0.0.1");
  return { port, lines, waiting, handled, [Symbol.asyncDispose]: () => listener.close(0) };
}

const requestOf = (path: string, address: string) =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`;

test("closes the connections of an address beyond its limit, until one closes, with one log line", async () => {
  await using server = await start({});
  const open = [await openRaw(server.port), await openRaw(server.port)];
  await (
    await openRaw(server.port)
  ).closed;
  await (
    await openRaw(server.port)
  ).closed;
  expect(open.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  expect(server.lines).toEqual([{ address: "127.0.0.1", message: "closed a connection: its address has 2 already" }]);
  open[0]?.socket.destroy();
  await expect
    .poll(async () => {
      const next = await openRaw(server.port);
      next.socket.write(requestOf("/", "192.0.2.1"));
      return next.until("ok").then(
        () => true,
        () => false,
      );
    })
    .toBe(true);
});

test("logs connections that are dropped because the server has too many", async () => {
  await using server = await start({ trustedProxies: ["127.0.0.1"], maxInAll: 3 });
  for (let index = 0; index < 3; index++) await openRaw(server.port);
  await (
    await openRaw(server.port)
  ).closed;
  expect(server.lines).toEqual([{ address: "127.0.0.1", message: "closed a connection: the server has too many" }]);
});

test("counts requests, not connections, behind a trusted proxy, for each forwarded address", async () => {
  await using server = await start({ trustedProxies: ["127.0.0.1"] });
  const connections = await Promise.all([1, 2, 3, 4].map(() => openRaw(server.port)));
  const [first, second, third, fourth] = connections;
  first?.socket.write(requestOf("/wait", "2001:db8::1"));
  second?.socket.write(requestOf("/wait", "2001:db8::2"));
  await expect.poll(() => server.waiting.length).toBe(2);
  // The same /64, and another.
  third?.socket.write(requestOf("/", "2001:db8::3"));
  await third?.until("RATE_LIMITED");
  expect(third?.received()).toMatch(/^HTTP\/1.1 429 [^]*\r\nRetry-After: 1\r\n[^]*"status":"RESOURCE_EXHAUSTED"/);
  fourth?.socket.write(requestOf("/", "2001:db8:0:1::3"));
  await fourth?.until("ok");
  // An answered request no longer counts, nor one whose connection breaks.
  server.waiting[0]?.end();
  await first?.until("200");
  third?.socket.write(requestOf("/", "2001:db8::3"));
  await third?.until("ok");
});

test("forgets pipelined requests when their connection breaks, and counts those of HTTP/2", async () => {
  await using server = await start({});
  const pipelined = await openRaw(server.port);
  pipelined.socket.write(requestOf("/wait", "") + requestOf("/wait", ""));
  await expect.poll(() => server.waiting.length).toBe(2);
  const session = await openHttp2(`http://127.0.0.1:${server.port}`);
  await expect(callHttp2(session, { ":path": "/" })).rejects.toThrow("the stream was cut");
  const closed = once(pipelined.socket, "close");
  pipelined.socket.destroy();
  await closed;
  const statusNow = () => callHttp2(session, { ":path": "/" }).then(({ status }) => status, String);
  await expect.poll(statusNow).toBe(200);
  // Two streams at once, and a third.
  void callHttp2(session, { ":path": "/wait" });
  void callHttp2(session, { ":path": "/wait" });
  await expect.poll(() => server.waiting.length).toBe(4);
  await expect(callHttp2(session, { ":path": "/" })).rejects.toThrow("the stream was cut");
  for (const response of server.waiting) response.end();
  await expect.poll(statusNow).toBe(200);
  session.close();
});

/** Stops the clock by which requests come at a pace, so that none is due earlier on a slow machine. Timers go on. */
function stopClock(): void {
  const stopped = vi.spyOn(performance, "now").mockReturnValue(Math.ceil(performance.now()));
  onTestFinished(() => stopped.mockRestore());
}

test("lets anonymous requests of an address wait beyond its burst of 100, and refuses those that would wait too long", async () => {
  stopClock();
  await using server = await start({ maxRequests: 1_000, anonymousPerSecond: 2 });
  const session = await openHttp2(`http://127.0.0.1:${server.port}`);
  const answered: number[] = [];
  const sendOne = async (): Promise<void> => {
    const { status } = await callHttp2(session, { ":path": "/" });
    answered.push(status);
  };
  await Promise.all(Array.from({ length: 105 }, sendOne));
  // Four wait for half a second more each, and a fifth would wait for longer than two seconds.
  expect(answered.filter((status) => status === 200)).toHaveLength(104);
  expect(answered.filter((status) => status === 429)).toHaveLength(1);
  expect(answered.at(-1)).toBe(200);
  expect(server.lines).toMatchObject([{ message: expect.stringContaining("more than 2 anonymous ones a second") }]);
  session.close();
});

test("requests of known callers do not wait", async () => {
  await using server = await start({ maxRequests: 1_000, anonymousPerSecond: 1 });
  const session = await openHttp2(`http://127.0.0.1:${server.port}`);
  for (let index = 0; index < 300; index++)
    expect(await callHttp2(session, { ":path": "/known" })).toMatchObject({ status: 200 });
  session.close();
});

test("what fails after it has waited is answered with 500", async () => {
  await using server = await start({ maxRequests: 1_000, anonymousPerSecond: 10 });
  const session = await openHttp2(`http://127.0.0.1:${server.port}`);
  const answers = await Promise.all(Array.from({ length: 101 }, () => callHttp2(session, { ":path": "/throw" })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]));
  expect(server.lines).toHaveLength(101);
  session.close();
});

test("a request that ends while it waits is not handled", async () => {
  stopClock();
  await using server = await start({ maxRequests: 1_000, anonymousPerSecond: 1 });
  const session = await openHttp2(`http://127.0.0.1:${server.port}`);
  for (let index = 0; index < 100; index++) await callHttp2(session, { ":path": "/" });
  const abandoned = session.request({ ":path": "/abandoned" });
  abandoned.on("error", () => undefined);
  await sleep(100);
  abandoned.close(constants.NGHTTP2_CANCEL);
  await sleep(1_200);
  expect(await callHttp2(session, { ":path": "/" })).toMatchObject({ status: 200 });
  expect(server.handled).not.toContain("/abandoned");
  session.close();
});

test("calls of known callers do not wait for each other, however many are in flight", async () => {
  await using server = await start({ maxRequests: 1_000, anonymousPerSecond: 1, trustedProxies: ["127.0.0.1"] });
  const session = await openHttp2(`http://127.0.0.1:${server.port}`);
  const calls = Array.from({ length: 95 }, () =>
    callHttp2(session, { ":path": "/wait", "x-forwarded-for": "192.0.2.1" }),
  );
  await expect.poll(() => server.waiting.length).toBe(95);
  const second = await openHttp2(`http://127.0.0.1:${server.port}`);
  const further = Array.from({ length: 95 }, () =>
    callHttp2(second, { ":path": "/wait", "x-forwarded-for": "192.0.2.1" }),
  );
  await expect.poll(() => server.waiting.length).toBe(190);
  for (const response of server.waiting) response.end();
  await Promise.all([...calls, ...further]);
  session.close();
  second.close();
});

test("refuses streams beyond the limit of their address without a handler, in one turn or many", async () => {
  await using server = await start({ maxRequests: 3 });
  const session = await openHttp2(`http://127.0.0.1:${server.port}`);
  const streams = Array.from({ length: 90 }, () => session.request({ ":path": "/wait" }));
  const codes: number[] = [];
  for (const stream of streams) {
    stream.on("error", () => undefined);
    stream.on("close", () => codes.push(stream.rstCode));
    stream.resume();
  }
  await expect.poll(() => codes).toHaveLength(87);
  expect(new Set(codes)).toEqual(new Set([constants.NGHTTP2_ENHANCE_YOUR_CALM]));
  expect(server.handled).toHaveLength(3);
  for (const response of server.waiting) response.end();
  await expect.poll(() => codes.filter((code) => code === constants.NGHTTP2_NO_ERROR)).toHaveLength(3);
  expect(server.lines).toMatchObject([{ message: "refused a request: its address has 3 in flight" }]);
  session.close();
});

test.each([
  ["/healthz", "GET"],
  ["/readyz?verbose", "GET"],
  ["/grpc.health.v1.Health/Check", "POST"],
])("handles some requests for %s before all limits of an address", async (path, method) => {
  stopClock();
  await using server = await start({ maxRequests: 150, maxConnections: 10, anonymousPerSecond: 100 });
  const url = `http://127.0.0.1:${server.port}`;
  const [busy, other, probing] = [await openHttp2(url), await openHttp2(url), await openHttp2(url)];
  // The first hundred come at once, and the others are not answered: as many as the address may have in flight.
  await Promise.all(Array.from({ length: 100 }, () => callHttp2(busy, { ":path": "/" })));
  for (let count = 0; count < 150; count++) {
    void callHttp2(count < 75 ? busy : other, { ":path": "/wait" }).catch(() => undefined);
  }
  const ask = (target: string) =>
    callHttp2(probing, { ":method": method, ":path": target }).then(({ status }) => status, String);
  await expect.poll(() => ask("/")).toContain("the stream was cut");
  const asked: unknown[] = [];
  for (let count = 0; count < 20; count++) asked.push(await ask(path));
  expect(asked).toEqual(Array(20).fill(200));
  expect(await ask(path)).toContain("the stream was cut");
  expect(server.handled.filter((handled) => handled === path)).toHaveLength(20);
  for (const session of [busy, other, probing]) session.destroy();
});
