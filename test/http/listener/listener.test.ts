import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHealth } from "../../../src/http/health/health.ts";
import { registerHealth } from "../../../src/http/health/health-service.ts";
import type { HttpHandler } from "../../../src/http/http-messages.ts";
import { answerJson } from "../../../src/http/plain-error.ts";
import { callHttp2, frame, openHttp2, preface } from "../http2-client.ts";
import { exchange, exchangeBytewise, openRaw, parseAnswer } from "../raw-client.ts";
import { startListener } from "../start-listener.ts";

/** Responds with the version, method and body of the request. */
const echo: HttpHandler = async (request, response) => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  answerJson(response, 200, JSON.stringify({ version: request.httpVersion, method: request.method, body }));
};

const aip193 = (code: number, status: string, reason: string) => ({
  error: {
    code,
    status,
    message: expect.any(String),
    details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "iam.tenantry.dev" }],
  },
});

describe("one port", () => {
  it("serves HTTP/1.1 and HTTP/2 clients", async () => {
    await using server = await startListener(echo);
    const answered = await fetch(server.url, { method: "POST", body: "hello" });
    expect(await answered.json()).toEqual({ version: "1.1", method: "POST", body: "hello" });

    const session = await openHttp2(server.url);
    const { status, body } = await callHttp2(session, { ":path": "/" });
    expect([status, JSON.parse(body)]).toEqual([200, { version: "2.0", method: "GET", body: "" }]);
    session.close();
  });

  // The preface of HTTP/2 also begins with P and PR.
  it.each(["GET", "POST", "PUT", "PATCH", "PROPFIND"])("serves %s that arrives byte by byte", async (method) => {
    await using server = await startListener(echo);
    const lines = `${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi`;
    expect(parseAnswer(await exchangeBytewise(server.port, lines)).body).toEqual({
      version: "1.1",
      method,
      body: "hi",
    });
  });

  it("serves an HTTP/2 client whose preface arrives byte by byte", async () => {
    await using server = await startListener(echo);
    const { socket, until, received } = await openRaw(server.port);
    socket.setNoDelay(true);
    for (const byte of Buffer.concat([Buffer.from(preface), frame(4, 0, 0)])) {
      socket.write(Buffer.of(byte));
      await sleep(1);
    }
    const settingsAcknowledged = frame(4, 1, 0).toString("latin1");
    await until(settingsAcknowledged);
    expect(received()).toContain(settingsAcknowledged);
    socket.destroy();
  });

  it("responds to pipelined requests in order", async () => {
    await using server = await startListener(echo);
    const first = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none";
    const last = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\ntwo";
    const received = await exchange(server.port, first + last);
    expect(received.match(/"body":"(one|two)"/g)).toEqual(['"body":"one"', '"body":"two"']);
  });

  it("lets requests that are pipelined behind an unsafe one wait for it, and no others", async () => {
    const started: string[] = [];
    const release: (() => void)[] = [];
    await using server = await startListener((request, response) => {
      started.push(`${request.method} ${request.url}`);
      release.push(() => response.end());
    });
    const { socket, until } = await openRaw(server.port);
    const head = " HTTP/1.1\r\nHost: a\r\n\r\n";
    socket.write(`GET /1${head}DELETE /2${head}GET /3${head}GET /4${head}`);
    await expect.poll(() => started).toEqual(["GET /1", "DELETE /2"]);
    release[0]?.();
    await until("200 OK");
    expect(started).toHaveLength(2);
    release[1]?.();
    await expect.poll(() => started).toEqual(["GET /1", "DELETE /2", "GET /3", "GET /4"]);
    socket.destroy();
  });

  it("does not make Node warn of listeners for many requests behind an unsafe one", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    let started = 0;
    let release = (): void => {};
    await using server = await startListener((_request, response) => {
      started++;
      if (started === 1) release = () => response.end();
      else response.end();
    });
    const { socket } = await openRaw(server.port);
    const head = " HTTP/1.1\r\nHost: a\r\n\r\n";
    socket.write(`DELETE /${head}${`GET /${head}`.repeat(99)}`);
    await expect.poll(() => started).toBe(1);
    // The other requests have arrived with the first one.
    release();
    await expect.poll(() => started).toBe(100);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
    socket.destroy();
  });

  it("converts a target in absolute form, whose host counts", async () => {
    await using server = await startListener(({ url, headers }, response) => {
      answerJson(response, 200, JSON.stringify([url, headers.host]));
    });
    const ask = async (target: string) =>
      parseAnswer(await exchange(server.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`));
    expect((await ask("http://b:80/c?d=http://e/")).body).toEqual(["/c?d=http://e/", "b:80"]);
    expect((await ask("HTTPS://b?c")).body).toEqual(["/?c", "b"]);
    expect((await ask("http://user@b/")).status).toBe(400);
  });

  it("refuses two hosts", async () => {
    await using server = await startListener(echo);
    const hosts = "Host: a\r\nHOST: b\r\nConnection: close\r\n\r\n";
    expect(parseAnswer(await exchange(server.port, `GET / HTTP/1.1\r\n${hosts}`)).status).toBe(400);
  });

  it("refuses two Authorization headers, of which a proxy may have checked the other one", async () => {
    await using server = await startListener(echo);
    const head = "Host: a\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\nConnection: close\r\n\r\n";
    expect(parseAnswer(await exchange(server.port, `GET / HTTP/1.1\r\n${head}`)).status).toBe(400);
    const lines = [
      [":method", "GET"],
      [":scheme", "http"],
      [":authority", "a"],
      [":path", "/"],
      ["authorization", "Bearer a"],
      ["authorization", "Bearer b"],
    ];
    // Literal fields (RFC 7541, 6.2.2), because clients refuse to send two.
    const fields = lines.flatMap(([name = "", value = ""]) => [
      `\0${String.fromCharCode(name.length)}`,
      name,
      String.fromCharCode(value.length),
      value,
    ]);
    const { socket, until } = await openRaw(server.port);
    socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0), frame(1, 5, 1, Buffer.from(fields.join("")))]));
    await until("more than one Authorization header");
    socket.destroy();
  });

  it("answers a client that has ended its side of the connection", async () => {
    const probed = Promise.withResolvers<void>();
    await using server = await startListener(async (_request, response) => {
      await probed.promise;
      response.end("late");
    });
    const { socket, closed, received, until } = await openRaw(server.port);
    socket.end("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await until("100 Continue");
    probed.resolve();
    await closed;
    // The interim responses show whether the client is still there.
    expect(received()).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+HTTP\/1\.1 200 OK[^]*late/);
  });

  it("serves a large body that arrives together with its headers", async () => {
    await using server = await startListener(echo);
    const body = "x".repeat(1_000_000);
    const answered = await fetch(server.url, { method: "POST", body });
    expect(await answered.json()).toMatchObject({ body });
  });

  it("ignores a request to upgrade to h2c", async () => {
    await using server = await startListener(echo);
    const upgrade =
      "Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
    const { status, body } = parseAnswer(await exchange(server.port, `GET / HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`));
    expect([status, body]).toEqual([200, { version: "1.1", method: "GET", body: "" }]);
  });

  it.each(["h1", "h2"])("sends no 100 Continue before the body is read: %s", async (protocol) => {
    await using server = await startListener((_request, response) => answerJson(response, 403, "{}"));
    if (protocol === "h1") {
      const head =
        "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
      expect(await exchange(server.port, head)).toMatch(/^HTTP\/1\.1 403/);
      return;
    }
    const session = await openHttp2(server.url);
    const stream = session.request({ ":method": "POST", ":path": "/", expect: "100-continue" });
    const seen: string[] = [];
    stream.on("continue", () => seen.push("continue"));
    stream.on("response", (headers) => seen.push(String(headers[":status"])));
    stream.resume();
    await expect.poll(() => seen).toEqual(["403"]);
    session.destroy();
  });

  it("sends 100 Continue to a client that expects it", async () => {
    await using server = await startListener(echo);
    const { socket, until, received, closed } = await openRaw(server.port);
    socket.write(
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
    );
    await until("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("hi");
    await closed;
    expect(parseAnswer(received()).body).toEqual({ version: "1.1", method: "POST", body: "hi" });
  });

  it("serves HTTP/1.0 without a host", async () => {
    await using server = await startListener((request, response) =>
      answerJson(response, 200, JSON.stringify(request.headers.host)),
    );
    expect(parseAnswer(await exchange(server.port, "GET / HTTP/1.0\r\n\r\n")).body).toBe("localhost");
  });

  it("serves 200 concurrent connections", async () => {
    await using server = await startListener(echo);
    const overHttp1 = Array.from({ length: 100 }, async () => {
      const received = await exchange(server.port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      return parseAnswer(received).status;
    });
    const overHttp2 = Array.from({ length: 100 }, async () => {
      const session = await openHttp2(server.url);
      const { status } = await callHttp2(session, { ":path": "/" });
      session.close();
      return status;
    });
    expect(new Set(await Promise.all([...overHttp1, ...overHttp2]))).toEqual(new Set([200]));
  });

  it("drops connections beyond the limit", async () => {
    await using server = await startListener(echo, { maxConnections: 2 });
    const open = [await openRaw(server.port), await openRaw(server.port)];
    const dropped = await openRaw(server.port);
    await dropped.closed;
    expect(open.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  });
});

describe("malformed and incomplete requests", () => {
  const cases: [name: string, sent: string, code: number, status: string, reason: string][] = [
    ["garbage", "\x16\x03\x01\x02\x00garbage\r\n\r\n", 400, "INVALID_ARGUMENT", "REQUEST_MALFORMED"],
    ["a bad request line", "GET / HTTP/x.1\r\n\r\n", 400, "INVALID_ARGUMENT", "REQUEST_MALFORMED"],
    ...["0.9", "2.0", "3.0", "9.9"].map((version): (typeof cases)[number] => [
      `HTTP/${version} in text`,
      `GET / HTTP/${version}\r\nHost: a\r\n\r\n`,
      505,
      "UNIMPLEMENTED",
      "HTTP_VERSION_NOT_SUPPORTED",
    ]),
    ...["gzip, chunked", "gzip\r\nTransfer-Encoding: chunked", "identity, chunked"].map(
      (coding): (typeof cases)[number] => [
        `the transfer coding ${coding}`,
        `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
        501,
        "UNIMPLEMENTED",
        "TRANSFER_CODING_NOT_SUPPORTED",
      ],
    ),
    [
      "chunks over HTTP/1.0",
      "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
      400,
      "INVALID_ARGUMENT",
      "REQUEST_MALFORMED",
    ],
    ["a bad header", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, "INVALID_ARGUMENT", "REQUEST_MALFORMED"],
    [
      "two framings of the body",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
      400,
      "INVALID_ARGUMENT",
      "REQUEST_MALFORMED",
    ],
    ["no host", "GET / HTTP/1.1\r\n\r\n", 400, "INVALID_ARGUMENT", "REQUEST_MALFORMED"],
    ["a malformed host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "INVALID_ARGUMENT", "REQUEST_MALFORMED"],
    [
      "oversized headers",
      `GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${"x".repeat(1_000_000)}\r\n\r\n`,
      431,
      "INVALID_ARGUMENT",
      "REQUEST_HEADERS_TOO_LARGE",
    ],
    ["CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 405, "UNIMPLEMENTED", "METHOD_NOT_SUPPORTED"],
    [
      "an unknown expectation",
      "GET / HTTP/1.1\r\nHost: a\r\nExpect: a cake\r\nConnection: close\r\n\r\n",
      417,
      "INVALID_ARGUMENT",
      "EXPECTATION_UNKNOWN",
    ],
  ];

  it.each(cases)("responds to %s with a JSON error", async (_name, sent, code, status, reason) => {
    await using server = await startListener(echo);
    const answer = parseAnswer(await exchange(server.port, Buffer.from(sent, "latin1")));
    expect(answer.status).toBe(code);
    expect(answer.head).toContain("Content-Type: application/json");
    expect(answer.head).toContain("Connection: close");
    expect(answer.body).toEqual(aip193(code, status, reason));
    expect(server.errors).toEqual([]);
  });

  it("does not serve what follows a request whose framing is wrong", async () => {
    const served: (string | undefined)[] = [];
    await using server = await startListener((request, response) => {
      served.push(request.url);
      answerJson(response, 200, "{}");
    });
    const wrong = "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    const received = await exchange(server.port, `${wrong}GET /next HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect([received.match(/HTTP\/1\.1 \d+/g), served]).toEqual([["HTTP/1.1 400"], []]);
  });

  it("takes chunks whatever the case of their name", async () => {
    await using server = await startListener(echo);
    const head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n";
    const answer = parseAnswer(await exchange(server.port, `${head}2\r\nhi\r\n0\r\n\r\n`));
    expect(answer.body).toEqual({ version: "1.1", method: "POST", body: "hi" });
  });

  it.each([
    ["nothing", ""],
    ["the start of either protocol", "PR"],
    ["half of its headers", "GET / HTTP/1.1\r\nHost:"],
  ])("times out a client that sends only %s", async (_name, sent) => {
    await using server = await startListener(echo, { headersTimeoutMs: 200 });
    const answer = parseAnswer(await exchange(server.port, sent));
    expect([answer.status, answer.body]).toEqual([408, aip193(408, "DEADLINE_EXCEEDED", "REQUEST_TIMEOUT")]);
  });

  it("times out a client that sends headers slowly", async () => {
    await using server = await startListener(echo, { headersTimeoutMs: 200 });
    const { socket, received, closed } = await openRaw(server.port);
    socket.write("GET / HTTP/1.1\r\n");
    const drip = setInterval(() => socket.write("a: b\r\n"), 20);
    await closed;
    clearInterval(drip);
    expect(received()).toContain("HTTP/1.1 408 ");
  });

  it("times out a body that stalls", async () => {
    await using server = await startListener(echo, { headersTimeoutMs: 200, requestTimeoutMs: 300 });
    const answer = parseAnswer(
      await exchange(server.port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhi"),
    );
    expect([answer.status, answer.body]).toEqual([408, aip193(408, "DEADLINE_EXCEEDED", "REQUEST_TIMEOUT")]);
  });

  it("does not write an error into a response that has begun", async () => {
    await using server = await startListener((request, response) => {
      if ("stream" in response) return;
      response.write("begun");
      request.resume();
    });
    const { socket, until, received, closed } = await openRaw(server.port);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    await until("begun");
    socket.write("no chunk\r\n");
    await closed;
    expect(received()).not.toContain("HTTP/1.1 400");
  });
});

describe("connections that break", () => {
  it.each(["application/json", "text/plain"])(
    "end no process whose handler stops listening before: %s",
    async (type) => {
      // connect-node answers other content types than its own without reading the body.
      const health = createHealth({ checks: {}, checkTimeoutMs: 100 });
      const rpc = connectNodeAdapter({ routes: (router) => registerHealth(router, health, []) });
      const handled: string[] = [];
      await using server = await startListener((request, response) => {
        handled.push(request.url ?? "");
        if (request.url !== "/wait") rpc(request, response);
      });
      const uncaught: unknown[] = [];
      const onUncaught = (error: unknown): void => void uncaught.push(error);
      process.on("uncaughtException", onUncaught);
      onTestFinished(() => void process.off("uncaughtException", onUncaught));
      const { socket, closed } = await openRaw(server.port);
      const path = "/grpc.health.v1.Health/Watch";
      socket.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 5\r\n\r\nabcde`);
      await expect.poll(() => handled).toEqual(["/wait", path]);
      await sleep(100);
      socket.resetAndDestroy();
      await closed;
      expect((await exchange(server.port, `POST ${path} HTTP/1.0\r\nHost: a\r\n\r\n`)).slice(0, 12)).toBe(
        "HTTP/1.1 415",
      );
      expect(uncaught).toEqual([]);
    },
  );
});

describe("connections without a request", () => {
  it("closes an HTTP/1.1 connection", async () => {
    await using server = await startListener(echo, { keepAliveTimeoutMs: 100 });
    const received = await exchange(server.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(parseAnswer(received).status).toBe(200);
  });

  it("sends GOAWAY to an idle HTTP/2 client, but not while it waits for a response", async () => {
    await using server = await startListener(
      async (_request, response) => {
        await sleep(1_500);
        response.end("late");
      },
      { keepAliveTimeoutMs: 1_000 },
    );
    const session = await openHttp2(server.url);
    let gone = false;
    session.on("goaway", () => (gone = true));
    const { body } = await callHttp2(session, { ":path": "/" });
    expect([body, gone]).toEqual(["late", false]);
    await once(session, "close");
    expect(gone).toBe(true);
  });

  it("closes an HTTP/2 connection on which no request comes in the time for a head", async () => {
    await using server = await startListener(echo, { headersTimeoutMs: 1_000 });
    const { socket, until, closed } = await openRaw(server.port);
    socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0)]));
    await until(frame(4, 1, 0).toString("latin1"));
    await closed;
    const session = await openHttp2(server.url);
    await callHttp2(session, { ":path": "/" });
    await sleep(1_200);
    expect((await callHttp2(session, { ":path": "/" })).body).toContain("GET");
    session.destroy();
  });

  it("closes the connection of an HTTP/2 client that half-closes it", async () => {
    await using server = await startListener(echo);
    const { socket, until, closed } = await openRaw(server.port);
    socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0)]));
    await until(frame(4, 1, 0).toString("latin1"));
    socket.end();
    await closed;
    expect(socket.errored).toBe(null);
  });
});
