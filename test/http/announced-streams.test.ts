// Tests that sessions of HTTP/2 are announced few streams until they have a known caller.
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { expect, test } from "vitest";
import { createAddressLimits } from "../../src/http/address-limits.ts";
import { createListener } from "../../src/http/listener/listener.ts";
import { callHttp2, frame, openHttp2, preface } from "./http2-client.ts";
import { openRaw } from "./raw-client.ts";

const waitMs = 60_000;

/** Starts a server that announces 256 streams at most, whose requests for `/known` have a known caller, and keep others open. */
async function start(anonymousPerSecond: number, trustedProxies: string[] = []) {
  let handled = 0;
  const { limitRequests, ...ofConnections } = createAddressLimits({
    trustedProxies,
    maxConnections: 100,
    maxRequests: 100_000,
    anonymousPerSecond,
    maxStreams: 256,
    logger: { warn: () => undefined },
  });
  const limits = { maxHeaderBytes: 16_384, maxConcurrentStreams: 256, keepAliveTimeoutMs: waitMs };
  const handle = limitRequests((request, response, pace) => {
    handled++;
    if (request.url !== "/known") return;
    pace.markKnown();
    response.end();
  });
  const listener = createListener({
    handler: (request, response) => handle(request, response, {}),
    limits: { ...limits, headersTimeoutMs: waitMs, requestTimeoutMs: waitMs },
    ...ofConnections,
  });
  const { port } = await listener.listen(0, "127.0.0.1");
  const url = `http://127.0.0.1:${port}`;
  return { port, url, handled: () => handled, [Symbol.asyncDispose]: () => listener.close(0) };
}

const streamsOf = ({ remoteSettings }: ClientHttp2Session) => remoteSettings.maxConcurrentStreams;

test.each([
  ["with a pace", 1_000],
  ["without one", 0],
])("a session is announced more streams when it has a known caller, %s", async (_name, anonymousPerSecond) => {
  await using server = await start(anonymousPerSecond);
  const session = await openHttp2(server.url);
  expect(streamsOf(session)).toBe(100);
  const more = once(session, "remoteSettings");
  expect((await callHttp2(session, { ":path": "/known" })).status).toBe(200);
  await more;
  expect(streamsOf(session)).toBe(256);
  expect((await callHttp2(session, { ":path": "/known" })).status).toBe(200);
  session.destroy();
});

test("the sessions of an address without known callers are announced fewer streams, the more there are", async () => {
  await using server = await start(0);
  const sessions: ClientHttp2Session[] = [];
  const open = async (): Promise<number | undefined> => {
    const session = await openHttp2(server.url);
    sessions.push(session);
    return streamsOf(session);
  };
  const announced: unknown[] = [];
  for (let count = 0; count < 42; count++) announced.push(await open());
  expect(announced).toEqual([...Array<number>(4).fill(100), ...Array<number>(36).fill(10), 1, 1]);
  for (const session of sessions.slice(0, 38)) session.destroy();
  await expect.poll(open).toBe(10);
  await callHttp2(sessions[38] as ClientHttp2Session, { ":path": "/known" });
  for (const session of sessions.slice(39)) session.destroy();
  await expect.poll(open).toBe(100);
  for (const session of sessions) session.destroy();
});

test("a session of a trusted proxy is announced the most streams at once", async () => {
  await using server = await start(0, ["127.0.0.1"]);
  const session = await openHttp2(server.url);
  expect(streamsOf(session)).toBe(256);
  session.destroy();
});

test.each([
  ["has acknowledged the settings", [frame(4, 1, 0)]],
  ["has not", []],
])(
  "of 250 streams that a client opens on each of 40 sessions, few are handled, if it %s",
  async (_name, acknowledged) => {
    await using server = await start(0);
    // :method POST, :scheme http, :path /, :authority a
    const head = Buffer.from([0x83, 0x86, 0x84, 0x41, 0x01, 0x61]);
    const streams = Array.from({ length: 250 }, (_, index) => frame(1, 5, 2 * index + 1, head));
    const clients = await Promise.all(Array.from({ length: 40 }, () => openRaw(server.port)));
    for (const { socket } of clients) socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0)]));
    const settings = frame(4, 1, 0).toString("latin1");
    await Promise.all(clients.map(({ until }) => until(settings)));
    for (const { socket } of clients) socket.write(Buffer.concat([...acknowledged, ...streams]));
    const last = await openHttp2(server.url);
    await callHttp2(last, { ":path": "/known" });
    const { length } = clients.filter(({ received }) => received() !== "");
    expect(length).toBe(40);
    expect(server.handled()).toBeLessThanOrEqual(4 * 100 + 36 * 10 + 1);
    last.destroy();
    for (const { socket } of clients) socket.destroy();
  },
);
