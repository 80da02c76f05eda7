import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { HttpHandler } from "../../../src/http/http-messages.ts";
import { callHttp2, frame, openHttp2, preface } from "../http2-client.ts";
import { openRaw } from "../raw-client.ts";
import { beginAnswer, endlessMs, startListener } from "../start-listener.ts";

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** A handler whose responses wait for `release`. */
function createGate(): { handler: HttpHandler; waiting: () => number; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  return {
    handler: async (request, response) => {
      waiting += 1;
      if (request.url === "/begun") beginAnswer(response);
      await promise;
      response.end("done");
    },
    waiting: () => waiting,
    release: resolve,
  };
}

async function millisecondsOf(promise: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await promise;
  return performance.now() - start;
}

it("finishes HTTP/1.1 requests in flight and closes their connections", async () => {
  const gate = createGate();
  await using server = await startListener(gate.handler);
  const waiting = await openRaw(server.port);
  const begun = await openRaw(server.port);
  waiting.socket.write(get);
  begun.socket.write("GET /begun HTTP/1.1\r\nHost: a\r\n\r\n");
  await begun.until("keep-alive");
  const closed = server.listener.close(endlessMs);
  // What connects in these turns of the event loop is answered.
  for (let turn = 0; turn < 2; turn++) await nextTurn();
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
  gate.release();
  await Promise.all([closed, waiting.closed, begun.closed]);
  expect(waiting.received()).toMatch(/Connection: close[^]*done$/);
  expect(begun.received()).toMatch(/done\r\n0\r\n\r\n$/);
});

it("does not cut a long response that its handler has already ended", async () => {
  const body = "x".repeat(20_000_000);
  await using server = await startListener((_request, response) => void response.end(body));
  const { socket, until, received, closed } = await openRaw(server.port);
  socket.write(get);
  await until("HTTP/1.1 200");
  socket.pause();
  await sleep(50);
  const closing = server.listener.close(endlessMs);
  await sleep(50);
  socket.resume();
  await Promise.all([closing, closed]);
  expect(received().length).toBeGreaterThan(body.length);
});

it("finishes a request that is still arriving", async () => {
  const gate = createGate();
  gate.release();
  await using server = await startListener(gate.handler);
  const { socket, received, closed } = await openRaw(server.port);
  socket.write(get.slice(0, 20));
  await sleep(50);
  // What has come is read in the turns of the event loop that follow, however late this one is.
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  const closing = server.listener.close(endlessMs);
  await sleep(50);
  socket.write(get.slice(20));
  await Promise.all([closing, closed]);
  expect(received()).toMatch(/Connection: close[^]*done$/);
});

it("does not wait for requests on a connection that was reset", async () => {
  const gate = createGate();
  await using server = await startListener(gate.handler);
  const { socket } = await openRaw(server.port);
  socket.write(get.repeat(10));
  await expect.poll(gate.waiting).toBe(10);
  socket.resetAndDestroy();
  gate.release();
  const idle = await openRaw(server.port);
  idle.socket.write(get);
  await idle.until("done");
  await Promise.all([server.listener.close(endlessMs), idle.closed]);
});

it("finishes HTTP/2 streams in flight and sends GOAWAY", async () => {
  const gate = createGate();
  await using server = await startListener(gate.handler);
  const session = await openHttp2(server.url);
  const goaway = once(session, "goaway");
  const left = once(session, "close");
  const answers = [callHttp2(session, { ":path": "/" }), callHttp2(session, { ":path": "/begun" })];
  await expect.poll(gate.waiting).toBe(2);
  const closed = server.listener.close(endlessMs);
  await goaway;
  gate.release();
  expect((await Promise.all(answers)).map(({ body }) => body)).toEqual(["done", "done"]);
  await Promise.all([closed, left]);
});

it("closes connections without a request, whatever their protocol", async () => {
  await using server = await startListener((_request, response) => void response.end("done"));
  const idle = await openRaw(server.port);
  idle.socket.write(get);
  await idle.until("done");
  const silent = await openRaw(server.port);
  const undecided = await openRaw(server.port);
  undecided.socket.write("PR");
  const unsettled = await openRaw(server.port);
  unsettled.socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0)]));
  const session = await openHttp2(server.url);
  expect((await callHttp2(session, { ":path": "/" })).status).toBe(200);
  const left = Promise.all([idle.closed, silent.closed, undecided.closed, unsettled.closed, once(session, "close")]);
  await server.listener.close(endlessMs);
  await left;
});

it("answers what has connected before, and whose request it has not read yet", async () => {
  await using server = await startListener((_request, response) => void response.end("done"));
  const opened = await openRaw(server.port);
  const waiting = connect(server.port, "127.0.0.1");
  waiting.write(get);
  // The system has accepted it, and this process not: it does not look for events meanwhile.
  const until = performance.now() + 200;
  while (performance.now() < until);
  const closing = server.listener.close(endlessMs);
  opened.socket.write(get);
  const answers = await Promise.all([waiting.setEncoding("utf8").toArray(), opened.closed]);
  expect([answers[0].join(""), opened.received()]).toEqual([
    expect.stringMatching(/Connection: close[^]*done$/),
    expect.stringMatching(/Connection: close[^]*done$/),
  ]);
  await closing;
});

it("destroys the remaining connections after the grace period", async () => {
  const gate = createGate();
  await using server = await startListener(gate.handler);
  const { socket, closed } = await openRaw(server.port);
  socket.write(get);
  const session = await openHttp2(server.url);
  const cut = callHttp2(session, { ":path": "/" }).catch((error: unknown) => error);
  await expect.poll(gate.waiting).toBe(2);
  const duration = await millisecondsOf(server.listener.close(300));
  expect(duration).toBeGreaterThan(250);
  await closed;
  expect(await cut).toEqual(new Error("the stream was cut"));
});

it("destroys an HTTP/2 client that ignores GOAWAY", async () => {
  await using server = await startListener((_request, response) => void response.end("done"));
  const { socket, until } = await openRaw(server.port);
  socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0)]));
  await until(frame(4, 1, 0).toString("latin1"));
  socket.pause();
  await server.listener.close(300);
  socket.destroy();
});

it("closes once, however often close is called", async () => {
  const gate = createGate();
  await using server = await startListener(gate.handler);
  const { socket } = await openRaw(server.port);
  socket.write(get);
  await expect.poll(gate.waiting).toBe(1);
  const first = server.listener.close(endlessMs);
  expect(server.listener.close(0)).toBe(first);
  gate.release();
  await first;
  await server.listener.close(0);
});
