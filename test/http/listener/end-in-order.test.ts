import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { HttpHandler } from "../../../src/http/http-messages.ts";
import { answerJson } from "../../../src/http/plain-error.ts";
import { openRaw, type RawConnection } from "../raw-client.ts";
import { beginAnswer, endlessMs, startListener } from "../start-listener.ts";

const write = "POST /write HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
const lastWrite = write.replace("Host: a", "Host: a\r\nConnection: close");
const oldWrite = write.replace("HTTP/1.1", "HTTP/1.0");
const longHead = `GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${"x".repeat(20_000)}\r\n\r\n`;
const chunked = "POST /broken HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

/** Records requests whose bodies are complete, and answers them when told. */
function createRecorder() {
  const done: string[] = [];
  const released = Promise.withResolvers<void>();
  const handler: HttpHandler = async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    done.push(`${request.url} ${body}`.trim());
    await released.promise;
    answerJson(response, 200, "{}");
  };
  return { done, release: () => released.resolve(), handler };
}

function statusesOf({ received }: RawConnection): string[] {
  return received()
    .match(/HTTP\/1\.1 (?!100)\d+/g)!
    .map((line) => line.slice(-3));
}

const behind: [name: string, first: string, tail: string, statuses: string[]][] = [
  ["one byte after a request that closes", lastWrite, "x", ["200"]],
  ["a request after one that closes", lastWrite, write.replace("/write", "/ignored"), ["200"]],
  ["a head of 20 kB after a request that closes", lastWrite, longHead, ["200"]],
  ["one byte after a request of HTTP/1.0", oldWrite, "x", ["200"]],
  ["a request after one of HTTP/1.0", oldWrite, write.replace("/write", "/ignored"), ["200"]],
  [
    "garbage after a request of HTTP/1.0 that keeps the connection",
    oldWrite.replace("Host", "Connection: keep-alive\r\nHost"),
    "garbage\r\n\r\n",
    ["200", "400"],
  ],
  ["a body one byte longer than its Content-Length", write, "x", ["200", "400"]],
  ["a head that is garbage", write, "\x16\x03\x01garbage\r\n\r\n", ["200", "400"]],
  ["a head of 20 kB", write, longHead, ["200", "431"]],
  ["a head with two framings of its body", write, chunked.replace("Host", "Content-Length: 2\r\nHost"), ["200", "400"]],
  ["a body in broken chunks", write, `${chunked}no chunk\r\n`, ["200", "400"]],
  ["a chunk with an extension of 20 kB", write, `${chunked}2;${"x".repeat(20_000)}\r\nhi\r\n0\r\n\r\n`, ["200", "413"]],
  ["CONNECT", write, "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", ["200", "405"]],
  ["the preface of HTTP/2", write, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ["200", "400"]],
];

describe("a request is answered although what follows is refused or ignored:", () => {
  test.each(behind)("%s", async (_name, first, tail, statuses) => {
    const { done, release, handler } = createRecorder();
    await using server = await startListener(handler);
    const connection = await openRaw(server.port);
    connection.socket.write(first + tail, "latin1");
    await expect.poll(() => done).toEqual(["/write hi"]);
    release();
    await connection.closed;
    expect(statusesOf(connection)).toEqual(statuses);
    expect([done, server.errors]).toEqual([["/write hi"], []]);
  });

  test.each(behind)("%s, in packets of its own", async (_name, first, tail, statuses) => {
    const { done, release, handler } = createRecorder();
    await using server = await startListener(handler);
    const connection = await openRaw(server.port);
    connection.socket.write(first);
    await expect.poll(() => done).toEqual(["/write hi"]);
    connection.socket.write(tail, "latin1");
    await sleep(20);
    connection.socket.write("more\r\n\r\n");
    await sleep(20);
    expect(connection.received()).toBe("");
    release();
    await connection.closed;
    expect(statusesOf(connection)).toEqual(statuses);
    expect([done, server.errors]).toEqual([["/write hi"], []]);
  });

  test.each([
    ["in its head", "POST /cut HTTP/1.1\r\nHos"],
    ["in its body", write.replace("/write", "/cut").slice(0, -1)],
  ])("a request that its client cuts off %s", async (_name, tail) => {
    const { done, release, handler } = createRecorder();
    await using server = await startListener(handler);
    const connection = await openRaw(server.port);
    connection.socket.end(write + tail);
    await expect.poll(() => done).toEqual(["/write hi"]);
    release();
    await connection.closed;
    expect(statusesOf(connection)).toEqual(["200", "400"]);
    expect(done).toEqual(["/write hi"]);
  });

  test.each([
    ["in its head", "POST /late HTTP/1.1\r\nHos", "t: a\r\nContent-Length: 2\r\n\r\nhi"],
    ["in its body", write.replace("/write", "/late").slice(0, -1), "i"],
  ])("a request that takes too long to arrive %s, which is not served when it has", async (_name, tail, rest) => {
    const { done, release, handler } = createRecorder();
    await using server = await startListener(handler, { headersTimeoutMs: 100, requestTimeoutMs: 100 });
    const connection = await openRaw(server.port);
    connection.socket.write(write + tail);
    await expect.poll(() => done).toEqual(["/write hi"]);
    await sleep(500);
    connection.socket.write(rest);
    await sleep(20);
    release();
    await connection.closed;
    expect(statusesOf(connection)).toEqual(["200", "408"]);
    expect(done).toEqual(["/write hi"]);
  });
});

describe("a pipeline", () => {
  test("is answered up to the request that closes the connection", async () => {
    const { done, release, handler } = createRecorder();
    await using server = await startListener(handler);
    const connection = await openRaw(server.port);
    const read = "GET /read HTTP/1.1\r\nHost: a\r\n\r\n";
    connection.socket.write(read + write + lastWrite + write.replace("/write", "/ignored") + read);
    await expect.poll(() => done).toEqual(["/read", "/write hi"]);
    release();
    await connection.closed;
    expect(statusesOf(connection)).toEqual(["200", "200", "200"]);
    expect(done).toEqual(["/read", "/write hi", "/write hi"]);
  });

  test("is answered up to its first 100 requests", async () => {
    const { done, release, handler } = createRecorder();
    await using server = await startListener(handler);
    const connection = await openRaw(server.port);
    connection.socket.write(write.repeat(150));
    await expect.poll(() => done).toHaveLength(1);
    release();
    await connection.closed;
    expect(statusesOf(connection)).toEqual([...Array.from({ length: 100 }, () => "200"), "429"]);
    expect(done).toHaveLength(100);
  });

  test("is answered to its end by a server that closes", async () => {
    const { done, release, handler } = createRecorder();
    await using server = await startListener(handler);
    const connection = await openRaw(server.port);
    connection.socket.write("GET /read HTTP/1.1\r\nHost: a\r\n\r\n" + write);
    await expect.poll(() => done).toEqual(["/read", "/write hi"]);
    const closed = server.listener.close(endlessMs);
    release();
    await closed;
    await connection.closed;
    expect(statusesOf(connection)).toEqual(["200", "200"]);
    expect(connection.received().match(/Connection: close/g)).toHaveLength(1);
  });

  test("of which a server that closes has announced the end is not served any further", async () => {
    const { done, release, handler } = createRecorder();
    await using server = await startListener(handler);
    const connection = await openRaw(server.port);
    connection.socket.write("GET /read HTTP/1.1\r\nHost: a\r\n\r\n");
    await expect.poll(() => done).toEqual(["/read"]);
    const closed = server.listener.close(endlessMs);
    connection.socket.write(write);
    await sleep(20);
    release();
    await closed;
    await connection.closed;
    expect(statusesOf(connection)).toEqual(["200"]);
    expect(done).toEqual(["/read"]);
  });

  test("of which a server that closes has begun the last answer goes on with one more", async () => {
    const released = Promise.withResolvers<void>();
    await using server = await startListener(async ({ url }, response) => {
      if (url === "/long") beginAnswer(response);
      await released.promise;
      response.end(String(url));
    });
    const connection = await openRaw(server.port);
    connection.socket.write("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
    await connection.until("200 OK");
    const closed = server.listener.close(endlessMs);
    connection.socket.write("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    await sleep(20);
    released.resolve();
    await closed;
    await connection.closed;
    expect(connection.received()).toMatch(/\/long[^]*Connection: close[^]*\/next/);
  });
});

describe("a refused request", () => {
  test("is not done with the rest of its body, which comes later", async () => {
    const { done, release, handler } = createRecorder();
    release();
    await using server = await startListener(handler, { headersTimeoutMs: 100, requestTimeoutMs: 100 });
    const connection = await openRaw(server.port, { allowHalfOpen: true });
    connection.socket.write(write.slice(0, -1));
    await connection.until("HTTP/1.1 408");
    connection.socket.write("i");
    await sleep(50);
    connection.socket.end();
    await connection.closed;
    expect(done).toEqual([]);
  });

  test.each([
    ["which its body does not change", true, ["200"]],
    ["which is cut off if it has only begun", false, []],
  ])("has been answered before its body, %s", async (_name, isComplete, statuses) => {
    await using server = await startListener((_request, response) => {
      if ("stream" in response) return;
      if (isComplete) answerJson(response, 200, JSON.stringify("x".repeat(10_000_000)));
      else response.writeHead(200).write("begun");
    });
    const connection = await openRaw(server.port);
    connection.socket.pause();
    connection.socket.write(chunked);
    await sleep(50);
    connection.socket.write("no chunk\r\n");
    await sleep(50);
    connection.socket.resume();
    await connection.closed;
    expect(connection.received()).not.toContain("HTTP/1.1 400");
    expect(connection.received().endsWith('x"')).toBe(isComplete);
    if (isComplete) expect(statusesOf(connection)).toEqual(statuses);
  });
});

test("the last answer reaches a client that goes on sending before it reads", async () => {
  const { done, release, handler } = createRecorder();
  release();
  await using server = await startListener(handler);
  const connection = await openRaw(server.port);
  connection.socket.pause();
  connection.socket.write(lastWrite);
  await expect.poll(() => done).toEqual(["/write hi"]);
  for (let sent = 0; sent < 4; sent++) {
    connection.socket.write(Buffer.alloc(1_000_000, "x"));
    await sleep(20);
  }
  connection.socket.resume();
  await connection.closed;
  expect(statusesOf(connection)).toEqual(["200"]);
});
