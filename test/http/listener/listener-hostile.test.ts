import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { HttpHandler } from "../../../src/http/http-messages.ts";
import { explainListenError } from "../../../src/http/listener/listen.ts";
import { createListener } from "../../../src/http/listener/listener.ts";
import { answerJson } from "../../../src/http/plain-error.ts";
import { callHttp2, frame, openHttp2, preface } from "../http2-client.ts";
import { openRaw, parseAnswer } from "../raw-client.ts";
import { beginAnswer, startListener, type StartedListener } from "../start-listener.ts";

const ok: HttpHandler = (_request, response) => answerJson(response, 200, "{}");

async function expectServing({ url }: StartedListener): Promise<void> {
  expect((await fetch(url)).status).toBe(200);
}

describe("failing handlers", () => {
  const failure = new Error("a driver's text");
  const handler: HttpHandler = async (request, response) => {
    if (request.url === "/sync") throw failure;
    if (request.url === "/late") beginAnswer(response);
    await sleep(1);
    throw failure;
  };
  // Not async, because a handler can throw before it returns a promise.
  const throwing: HttpHandler = () => {
    throw failure;
  };

  it.each([
    ["rejects", handler],
    ["throws", throwing],
  ])("responds with 500 and reports the error when a handler %s", async (_name, failing) => {
    await using server = await startListener(failing);
    const overHttp1 = await fetch(server.url);
    const session = await openHttp2(server.url);
    const overHttp2 = await callHttp2(session, { ":path": "/" });
    session.close();
    const body = { error: { code: 500, status: "INTERNAL", message: "Internal server error." } };
    expect([overHttp1.status, await overHttp1.json()]).toMatchObject([500, body]);
    expect([overHttp2.status, JSON.parse(overHttp2.body)]).toMatchObject([500, body]);
    expect(server.errors).toEqual([failure, failure]);
  });

  it("aborts a response that has begun", async () => {
    await using server = await startListener(handler);
    await expect(fetch(`${server.url}/late`).then((answered) => answered.text())).rejects.toThrow("terminated");
    const session = await openHttp2(server.url);
    await expect(callHttp2(session, { ":path": "/late" })).rejects.toThrow("the stream was cut");
    session.close();
    expect(server.errors).toEqual([failure, failure]);
  });
});

describe("misbehaving clients", () => {
  it("survives a client that disconnects in the middle of a response", async () => {
    let closed = 0;
    await using server = await startListener(async (request, response) => {
      if (request.url === "/") return answerJson(response, 200, "{}");
      response.once("close", () => (closed += 1));
      for (let i = 0; i < 20; i++) {
        if ("stream" in response) response.write("x".repeat(100_000));
        else response.write("x".repeat(100_000));
        await sleep(1);
      }
      response.end();
    });
    const { socket } = await openRaw(server.port);
    socket.write("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "data");
    socket.resetAndDestroy();
    const session = await openHttp2(server.url);
    const stream = session.request({ ":path": "/long" });
    stream.on("error", () => undefined);
    await once(stream, "response");
    session.destroy();
    await expect.poll(() => closed).toBe(2);
    await expectServing(server);
    expect(server.errors).toEqual([]);
  });

  it.each([
    ["before the first byte", ""],
    ["in the preface", "PR"],
    ["in its headers", "GET / HT"],
    ["in an HTTP/2 session", preface],
  ])("survives a client that resets %s", async (_name, sent) => {
    await using server = await startListener(ok);
    const { socket } = await openRaw(server.port);
    socket.write(sent);
    await sleep(20);
    socket.resetAndDestroy();
    expect((await fetch(server.url)).status).toBe(200);
  });

  // :method GET, :scheme http, :path /, :authority a
  const headers = Buffer.from([0x82, 0x86, 0x84, 0x41, 0x01, 0x61]);
  const oddStreams = Array.from({ length: 20_000 }, (_, index) => 2 * index + 1);
  const floods: [name: string, sent: Buffer][] = [
    [
      "streams that are reset immediately",
      Buffer.concat(oddStreams.flatMap((id) => [frame(1, 5, id, headers), frame(3, 0, id, Buffer.alloc(4))])),
    ],
    ["pings", Buffer.concat(Array.from({ length: 200_000 }, () => frame(6, 0, 0, Buffer.alloc(8))))],
    ["settings", Buffer.concat(Array.from({ length: 200_000 }, () => frame(4, 0, 0)))],
    [
      "a header that never ends",
      Buffer.concat([
        frame(1, 0, 1, headers),
        ...Array.from({ length: 2000 }, () => frame(9, 0, 1, Buffer.from("\x00\x01a\x01b"))),
      ]),
    ],
    ["invalid frames", Buffer.from("garbage".repeat(100))],
  ];

  it.each(floods)("ends an HTTP/2 session that floods the server with %s", async (_name, sent) => {
    let served = 0;
    await using server = await startListener((_request, response) => {
      served += 1;
      answerJson(response, 200, "{}");
    });
    const { socket, closed } = await openRaw(server.port);
    // The client does not read the responses, so they accumulate in the server.
    socket.pause();
    socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0), sent]));
    await sleep(200);
    socket.resume();
    await closed;
    expect(served).toBeLessThan(100);
    await expectServing(server);
    expect(server.errors).toEqual([]);
  });

  it("rejects oversized headers on an HTTP/2 stream and keeps the session", async () => {
    await using server = await startListener(ok);
    const session = await openHttp2(server.url);
    expect(session.remoteSettings).toMatchObject({ maxHeaderListSize: 16_384, maxConcurrentStreams: 100 });
    const big = { ":path": "/", "x-big": "x".repeat(20_000) };
    await expect(callHttp2(session, big)).rejects.toThrow("the stream was cut");
    expect((await callHttp2(session, { ":path": "/" })).status).toBe(200);
    session.close();
  });

  it("rejects an HTTP/2 request to a malformed host", async () => {
    await using server = await startListener(ok);
    const session = await openHttp2(server.url);
    const answer = await callHttp2(session, { ":path": "/", ":authority": "a:99999" });
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([400, { error: { status: "INVALID_ARGUMENT" } }]);
    session.close();
  });

  it("serves others while slow clients hold connections", async () => {
    await using server = await startListener(ok, { headersTimeoutMs: 300 });
    const slow = await Promise.all(Array.from({ length: 100 }, () => openRaw(server.port)));
    for (const { socket } of slow) socket.write("GET / HTTP/1.1\r\nX: ");
    await expectServing(server);
    await Promise.all(slow.map(({ closed }) => closed));
    expect(new Set(slow.map(({ received }) => parseAnswer(received()).status))).toEqual(new Set([408]));
  });
});

describe("unavailable ports", () => {
  const listenOn = (port: number, host: string) => {
    const limits = {
      maxHeaderBytes: 16_384,
      headersTimeoutMs: 1000,
      requestTimeoutMs: 1000,
      keepAliveTimeoutMs: 1000,
      maxConcurrentStreams: 100,
    };
    return createListener({ handler: ok, limits }).listen(port, host);
  };

  it("names the address and the settings when the port is in use", async () => {
    await using server = await startListener(ok);
    await expect(listenOn(server.port, "127.0.0.1")).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${server.port}: the port is in use by another program. Change the settings HOST and PORT.`,
    );
  });

  it.each([
    [0, "no-such-host.invalid", "Cannot listen on no-such-host.invalid:0: the host name is unknown."],
    [0, "192.0.2.1", "Cannot listen on 192.0.2.1:0: the address does not belong to this machine."],
    [70_000, "::1", "Cannot listen on [::1]:70000: a port is a number from 0 to 65535."],
  ])("explains why it cannot listen on port %i of %s", async (port, host, message) => {
    await expect(listenOn(port, host)).rejects.toThrow(message);
  });

  it("explains a port that needs privileges", () => {
    const refused = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
    expect(explainListenError(refused, 80, "127.0.0.1").message).toContain("usually need privileges");
  });
});
