// Tests that clients without credentials cannot open as many streams as they like.
import { once } from "node:events";
import type { ClientHttp2Session, OutgoingHttpHeaders } from "node:http2";
import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { HttpResponse } from "../../../src/http/http-messages.ts";
import { paceKey, unpaced } from "../../../src/http/request-pace.ts";
import { clientAddressKey } from "../../../src/rpc/call-origin.ts";
import { createLimitStreams } from "../../../src/rpc/limits/limit-streams.ts";
import { refuseOneTooMany } from "../../../src/rpc/unary/refuse-call.ts";
import { callHttp2, openHttp2 } from "../../http/http2-client.ts";
import { openRaw } from "../../http/raw-client.ts";
import { beginAnswer, startListener } from "../../http/start-listener.ts";

/** Starts a server that allows three streams in all, and answers none of them to its end. */
async function start(pace = unpaced.take, perAddress = 2) {
  const draining = new AbortController();
  const open = new Set<HttpResponse>();
  const limitStreams = createLimitStreams({
    perAddress,
    inAll: 3,
    draining: draining.signal,
    onTooMany: refuseOneTooMany,
  });
  const limited = limitStreams((_request, response) => {
    open.add(response);
    response.on("close", () => open.delete(response));
    beginAnswer(response);
  });
  const server = await startListener((request, response) => {
    const values = createContextValues().set(clientAddressKey, String(request.headers["x-address"]));
    return limited(request, response, values.set(paceKey, { ...unpaced, take: pace }));
  });
  const session = await openHttp2(server.url);
  const stop = async (): Promise<void> => {
    session.destroy();
    await server[Symbol.asyncDispose]();
  };
  return { port: server.port, open, session, drain: () => draining.abort(), [Symbol.asyncDispose]: stop };
}

const watchPath = "/grpc.health.v1.Health/Watch";

const watch = (address: string, type = "application/grpc", path = watchPath): OutgoingHttpHeaders => ({
  ":method": "POST",
  ":path": path,
  "content-type": type,
  "x-address": address,
});

/** Opens a stream and waits for the head of its answer. */
async function openStream(session: ClientHttp2Session, address: string, path = watchPath) {
  const stream = session.request(watch(address, undefined, path));
  await once(stream, "response");
  return stream;
}

/** Returns the status and the message of an answer, which are in its trailers. */
async function refusalOf(session: ClientHttp2Session, address: string) {
  const stream = session.request(watch(address));
  stream.resume();
  const [trailers] = (await once(stream, "trailers")) as [Readonly<Record<string, unknown>>];
  return { status: trailers["grpc-status"], message: decodeURIComponent(String(trailers["grpc-message"])) };
}

test("refuses the streams of an address beyond its limit, until one closes", async () => {
  await using server = await start();
  const first = await openStream(server.session, "2001:db8::1");
  await openStream(server.session, "2001:db8::2");
  // Another address of the same /64.
  expect(await refusalOf(server.session, "2001:db8::3")).toMatchObject({
    status: "8",
    message:
      "the address of the client has 2 open streams already; close one, or call Check for the health of the server",
  });
  first.close();
  await expect.poll(() => server.open.size).toBe(1);
  await openStream(server.session, "2001:db8::3");
  // A refusal has a head, too.
  expect(server.open.size).toBe(2);
});

test("a stream of reflection counts as ten for its address", async () => {
  await using server = await start(undefined, 11);
  const reflectionPath = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  await openStream(server.session, "192.0.2.1");
  const reflection = await openStream(server.session, "192.0.2.1", reflectionPath);
  expect(await refusalOf(server.session, "192.0.2.1")).toMatchObject({ status: "8" });
  reflection.close();
  await expect.poll(() => server.open.size).toBe(1);
  await openStream(server.session, "192.0.2.1");
  expect(server.open.size).toBe(2);
  const { body } = await callHttp2(server.session, watch("192.0.2.1", "application/grpc-web", reflectionPath));
  expect(body).toContain("grpc-status: 8");
});

test("refuses the streams of any address when the server has too many", async () => {
  await using server = await start();
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) await openStream(server.session, address);
  expect(await refusalOf(server.session, "192.0.2.4")).toMatchObject({
    status: "8",
    message: expect.stringContaining("the server has 3"),
  });
});

test("refuses a stream in the protocol of its client", async () => {
  await using server = await start();
  for (let count = 0; count < 2; count++) await openStream(server.session, "192.0.2.1");
  const connect = await callHttp2(server.session, watch("192.0.2.1", "application/connect+json"));
  expect(connect).toMatchObject({
    status: 200,
    body: expect.stringContaining('{"error":{"code":"resource_exhausted"'),
  });
  const web = await callHttp2(server.session, watch("192.0.2.1", "application/grpc-web"));
  expect(web).toMatchObject({ status: 200, body: expect.stringContaining("grpc-status: 8\r\n") });
  // gRPC has its status in trailers, which HTTP/1.1 has only after chunks.
  const raw = await openRaw(server.port);
  const head = [
    "POST / HTTP/1.1",
    "Host: a",
    "X-Address: 192.0.2.1",
    "Content-Type: application/grpc",
    "Content-Length: 0",
  ];
  raw.socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await raw.until("RATE_LIMITED");
  expect(raw.received()).toMatch(/^HTTP\/1.1 429 /);
});

test("a stream takes ten places at the pace of its address, and is opened when they are due", async () => {
  const taken: number[] = [];
  await using server = await start((count) => {
    taken.push(count);
    return 500;
  });
  const startMs = performance.now();
  await openStream(server.session, "192.0.2.1");
  expect(performance.now() - startMs).toBeGreaterThan(450);
  // The request itself has taken the first.
  expect(taken).toEqual([9]);
});

test("a stream whose client leaves before it is opened takes no room", async () => {
  await using server = await start(() => 300);
  for (let count = 0; count < 10; count++) {
    const stream = server.session.request(watch("192.0.2.1"));
    await new Promise((resolve) => stream.write("a", resolve));
    stream.close();
    await once(stream, "close");
  }
  await openStream(server.session, "192.0.2.1");
  expect(server.open.size).toBe(1);
});

test("a stream over HTTP/1.1 ends when its client has gone, which only ends its side of the connection", async () => {
  await using server = await start();
  const head = "POST / HTTP/1.1\r\nHost: a\r\nX-Address: 192.0.2.1\r\nContent-Length: 0\r\n\r\n";
  const gone = await openRaw(server.port);
  gone.socket.write(head);
  const atOnce = await openRaw(server.port);
  atOnce.socket.end(head);
  await expect.poll(() => server.open.size).toBe(2);
  gone.socket.destroy();
  await expect.poll(() => server.open.size).toBe(0);
  await atOnce.closed;
  await openStream(server.session, "192.0.2.1");
});

test("a stream that does not end when the server drains is cut", async () => {
  await using server = await start();
  const stream = await openStream(server.session, "192.0.2.1");
  const raw = await openRaw(server.port);
  raw.socket.write("POST / HTTP/1.1\r\nHost: a\r\nX-Address: 192.0.2.2\r\nContent-Length: 0\r\n\r\n");
  await expect.poll(() => server.open.size).toBe(2);
  stream.on("error", () => undefined);
  const closed = once(stream, "close");
  server.drain();
  await Promise.all([closed, raw.closed]);
  expect(server.open.size).toBe(0);
});
