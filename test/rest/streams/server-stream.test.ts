import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { text } from "node:stream/consumers";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { RestHandlerOptions } from "../../../src/rest/rest-handler.ts";
import { StreamingService } from "../gen/rest/test/v1/library_pb.ts";
import { createEventParser } from "../support/event-parser.ts";
import { readText, serveHttp2, streamProtocols } from "../support/open-stream.ts";

type Streaming = Partial<ServiceImpl<typeof StreamingService>>;

function streamingWith(implementation: Streaming): RestHandlerOptions["routes"] {
  return (router) => router.service(StreamingService, implementation);
}

const watch: Streaming = {
  async *watch({ name }) {
    yield { name, title: "a" };
    await Promise.resolve();
    yield { name, title: "b\n" };
  },
};

/** Throws the error after `count` messages. */
function failingAfter(count: number, error: Error): Streaming {
  return {
    async *watch() {
      for (let index = 0; index < count; index++) yield { title: String(index) };
      await Promise.resolve();
      throw error;
    },
    async *download() {
      for (let index = 0; index < count; index++) yield { contentType: "text/csv", data: Buffer.from(`${index};`) };
      await Promise.resolve();
      throw error;
    },
  };
}

const path = "/v1/shelves/1:watch";
const first = { name: "shelves/1", title: "a" };
const second = { name: "shelves/1", title: "b\n" };
const lost = new ConnectError("the shelf is gone", Code.NotFound);

describe.each(Object.entries(streamProtocols))("over %s", (_name, serve) => {
  test.each([undefined, "*/*", "application/json", "text/html, application/*;q=0.5"])(
    "sends a JSON array for Accept: %s",
    async (accept) => {
      const { open } = await serve({ routes: streamingWith(watch) });
      const { status, headers, body } = await open({ path, headers: accept === undefined ? {} : { accept } });
      expect([status, headers["content-type"], headers["vary"]]).toEqual([
        200,
        "application/json",
        "accept, accept-encoding",
      ]);
      expect(JSON.parse(await readText(body))).toEqual([first, second]);
    },
  );

  test.each(["application/x-ndjson", "application/jsonl", "application/ndjson"])(
    "sends lines as %s",
    async (accept) => {
      const { open } = await serve({ routes: streamingWith(watch) });
      const { headers, body } = await open({ path: `${path}?$prettyPrint=true`, headers: { accept } });
      expect(headers["content-type"]).toBe(accept);
      expect(await readText(body)).toBe(`${JSON.stringify(first)}\n${JSON.stringify(second)}\n`);
    },
  );

  test("sends numbered events, and an event at the end", async () => {
    const { open } = await serve({ routes: streamingWith(watch) });
    const { headers, body } = await open({
      path: `${path}?prettyPrint=true`,
      headers: { accept: "text/event-stream" },
    });
    expect(headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      vary: "accept",
    });
    const { events, feed } = createEventParser();
    for await (const chunk of body) feed(String(chunk));
    expect(events).toEqual([
      { type: "message", data: JSON.stringify(first), lastEventId: "1" },
      { type: "message", data: JSON.stringify(second), lastEventId: "2" },
      { type: "end", data: "{}", lastEventId: "2" },
    ]);
  });

  test.each([
    ["json", "text/event-stream", "application/json"],
    ["ndjson", "image/png", "application/x-ndjson"],
    ["sse", "application/json", "text/event-stream"],
  ])("prefers $alt=%s to Accept: %s", async (alt, accept, contentType) => {
    const { open } = await serve({ routes: streamingWith(watch) });
    const { headers } = await open({ path: `${path}?$alt=${alt}`, headers: { accept } });
    expect(headers["content-type"]).toBe(contentType);
  });

  test("rejects an unsupported format", async () => {
    const { open } = await serve({ routes: streamingWith(watch) });
    const { status, body } = await open({ path, headers: { accept: "image/png" } });
    expect([status, await readText(body)]).toEqual([406, expect.stringContaining("application/x-ndjson")]);
    expect((await open({ path: "/v1/files/a:download?$alt=sse" })).status).toBe(400);
  });

  test("writes the configured event ids, and passes Last-Event-ID to the method", async () => {
    const { open } = await serve({
      eventId: (message) => ("title" in message && message.title !== "" ? String(message.title) : undefined),
      routes: streamingWith({
        async *watch(_request, { requestHeader }) {
          yield { title: `after ${requestHeader.get("last-event-id")}` };
          yield { name: "without an id" };
        },
      }),
    });
    const { body } = await open({ path: `${path}?$alt=sse`, headers: { "last-event-id": "41" } });
    expect(await readText(body)).toBe(
      'id: after 41\ndata: {"title":"after 41"}\n\ndata: {"name":"without an id"}\n\nevent: end\ndata: {}\n\n',
    );
  });

  test("rejects an event id that contains a newline", async () => {
    const { open } = await serve({ eventId: () => "1\ndata: forged", routes: streamingWith(watch) });
    const { status, body } = await open({ path: `${path}?$alt=sse` });
    expect([status, await readText(body)]).toEqual([500, expect.not.stringContaining("forged")]);
  });

  test.each([
    ["json", "[]"],
    ["ndjson", ""],
    ["sse", "event: end\ndata: {}\n\n"],
  ])("sends an empty stream as %s", async (alt, expected) => {
    const { open } = await serve({ routes: streamingWith({ async *watch() {} }) });
    const { status, body } = await open({ path: `${path}?$alt=${alt}` });
    expect([status, await readText(body)]).toEqual([200, expected]);
  });

  test("applies prettyPrint and fields to each element of an array", async () => {
    const { open } = await serve({ routes: streamingWith(watch) });
    const pretty = await readText((await open({ path: `${path}?$prettyPrint=true` })).body);
    expect(pretty).toContain('\n  "title": "a"');
    expect(JSON.parse(pretty)).toEqual([first, second]);
    const pruned = await readText((await open({ path: `${path}?$alt=ndjson&$fields=title` })).body);
    expect(pruned).toBe('{"title":"a"}\n{"title":"b\\n"}\n');
  });

  test("reads the body of a POST, and streams the response_body", async () => {
    const { open } = await serve({
      routes: streamingWith({
        async *watchShelves({ parent, book }) {
          yield { shelf: { theme: parent } };
          yield { shelf: { theme: book?.title ?? "" } };
        },
      }),
    });
    const request = { method: "POST", path: "/v1/shelves/1:watchShelves", headers: { accept: "application/x-ndjson" } };
    const { body } = await open(request, '{"title":"Dead Souls"}');
    expect(await readText(body)).toBe('{"theme":"shelves/1"}\n{"theme":"Dead Souls"}\n');
    expect((await open(request, '{"title":5}')).status).toBe(400);
    expect((await open(request, "{")).status).toBe(400);
  });

  test("streams the bytes of HttpBody with any Accept", async () => {
    const { open } = await serve({
      routes: streamingWith({
        async *download() {
          yield { contentType: "text/csv", data: Buffer.from("a;") };
          yield { contentType: "image/png", data: Buffer.from("b;") };
        },
        async *downloadFile() {
          yield { file: { contentType: "text/plain", data: Buffer.from("a") } };
          yield { file: { data: Buffer.from("b") } };
        },
      }),
    });
    const accept = { accept: "application/json" };
    const whole = await open({ path: "/v1/files/a:download", headers: accept });
    expect([whole.status, whole.headers["content-type"], await readText(whole.body)]).toEqual([
      200,
      "text/csv",
      "a;b;",
    ]);
    const field = await open({ path: "/v1/files/a:downloadFile", headers: accept });
    expect([field.headers["content-type"], await readText(field.body)]).toEqual(["text/plain", "ab"]);
  });

  test("responds to HEAD with the headers, without calling the method", async () => {
    let runs = 0;
    const { open } = await serve({
      routes: streamingWith({
        async *watch() {
          runs += 1;
          yield {};
        },
      }),
    });
    const { status, headers, body } = await open({ method: "HEAD", path: `${path}?$alt=sse` });
    expect([status, headers["content-type"], await readText(body)]).toEqual([200, "text/event-stream", ""]);
    expect((await open({ method: "HEAD", path: `${path}?nothing=1` })).status).toBe(400);
    expect(runs).toBe(0);
  });

  test("sends the headers that the method sets before its first message", async () => {
    const { open } = await serve({
      interceptors: [
        (next) => async (request) => {
          const answer = await next(request);
          answer.header.set("x-interceptor", "1");
          return answer;
        },
      ],
      routes: streamingWith({
        async *watch(_request, { responseHeader }) {
          responseHeader.set("x-method", "2");
          responseHeader.set("vary", "origin");
          yield {};
        },
      }),
    });
    const { headers } = await open({ path: `${path}?$alt=sse` });
    expect(headers).toMatchObject({ "x-interceptor": "1", "x-method": "2", vary: "origin, accept" });
  });

  test.each(["json", "ndjson", "sse"])(
    "responds with an error status to an error before the first message (%s)",
    async (alt) => {
      const { open } = await serve({ routes: streamingWith(failingAfter(0, lost)) });
      const { status, headers, body } = await open({ path: `${path}?$alt=${alt}` });
      expect([status, headers["content-type"]]).toEqual([404, "application/json"]);
      expect(JSON.parse(await readText(body))).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
    },
  );

  test("responds with an error status to the error of an interceptor, however late", async () => {
    const { open } = await serve({
      interceptors: [
        () => async () => {
          await new Promise((resolve) => setTimeout(resolve, 250));
          throw new ConnectError("who are you?", Code.Unauthenticated, { "www-authenticate": "Bearer" });
        },
      ],
      routes: streamingWith(watch),
    });
    const { status, headers } = await open({ path: `${path}?$alt=sse` });
    expect([status, headers["www-authenticate"]]).toEqual([401, "Bearer"]);
  });

  test("sends the head while a method yields nothing, and later errors in the format of the stream", async () => {
    const go = Promise.withResolvers<void>();
    const { open } = await serve({
      routes: streamingWith({
        // oxlint-disable-next-line require-yield
        async *watch() {
          await go.promise;
          throw lost;
        },
      }),
    });
    const array = await open({ path });
    const events = await open({ path: `${path}?$alt=sse` });
    expect([array.status, events.status]).toEqual([200, 200]);
    go.resolve();
    expect(JSON.parse(await readText(array.body))).toMatchObject([{ error: { code: 404 } }]);
    expect(await readText(events.body)).toMatch(/^event: error\ndata: \{"error":\{"code":404,.*\}\n\n$/);
  });

  const error = { code: 404, status: "NOT_FOUND", message: "the shelf is gone", details: [] };

  test("ends an array with an error element when the method throws", async () => {
    const { open } = await serve({ routes: streamingWith(failingAfter(2, lost)) });
    const { body } = await open({ path });
    expect(JSON.parse(await readText(body))).toEqual([{ title: "0" }, { title: "1" }, { error }]);
  });

  test("ends lines with an error line when the method throws", async () => {
    const { open } = await serve({ routes: streamingWith(failingAfter(1, lost)) });
    const { body } = await open({ path: `${path}?$alt=ndjson` });
    expect(await readText(body)).toBe(`{"title":"0"}\n${JSON.stringify({ error })}\n`);
  });

  test("ends events with an error event when the method throws", async () => {
    const { open } = await serve({ routes: streamingWith(failingAfter(1, lost)) });
    const { events, feed } = createEventParser();
    feed(await readText((await open({ path: `${path}?$alt=sse` })).body));
    expect(events.at(-1)).toEqual({ type: "error", data: JSON.stringify({ error }), lastEventId: "1" });
  });

  test.each([
    [1, "identity"],
    [5000, "gzip"],
    [5000, "br"],
  ])("aborts a stream of bytes when the method throws (after %i, %s)", async (count, coding) => {
    const { open } = await serve({ routes: streamingWith(failingAfter(count, lost)) });
    const { status, body } = await open({ path: "/v1/files/a:download", headers: { "accept-encoding": coding } });
    expect(status).toBe(200);
    await expect(readText(body)).rejects.toThrow(serve === serveHttp2 ? "NGHTTP2_INTERNAL_ERROR" : "aborted");
  });

  test("passes errors in mid-stream through mapError, and does not reveal the messages of other errors", async () => {
    const { open } = await serve({
      routes: streamingWith(failingAfter(1, new TypeError("password is hunter2"))),
      mapError: (each) => new ConnectError(`mapped: ${each.rawMessage}`, each.code),
    });
    const received = await readText((await open({ path: `${path}?$alt=ndjson` })).body);
    expect(received).toContain('"message":"mapped: internal error"');
    expect(received).not.toContain("hunter2");
  });

  test.each([
    ["gzip", createGunzip],
    ["br", createBrotliDecompress],
  ])("compresses with %s, and flushes after each message", async (coding, createInflater) => {
    const next = Promise.withResolvers<void>();
    const { open } = await serve({
      routes: streamingWith({
        async *watch() {
          yield { title: "a" };
          await next.promise;
          yield { title: "b" };
        },
      }),
    });
    const headers = { "accept-encoding": coding, accept: "application/x-ndjson" };
    const opened = await open({ path, headers });
    expect(opened.headers["content-encoding"]).toBe(coding);
    const inflated = opened.body.pipe(createInflater());
    const received: string[] = [];
    for await (const chunk of inflated) {
      received.push(String(chunk));
      next.resolve();
    }
    expect(received.join("")).toBe('{"title":"a"}\n{"title":"b"}\n');
    expect((await open({ path, headers: { ...headers, accept: "text/event-stream" } })).headers).not.toHaveProperty(
      "content-encoding",
    );
  });

  test.each(["json", "ndjson", "sse"])("sends 10,000 messages as %s", async (alt) => {
    const { open } = await serve({
      routes: streamingWith({
        async *watch() {
          for (let index = 0; index < 10_000; index++) yield { title: `title ${index}` };
        },
      }),
    });
    const received = await text((await open({ path: `${path}?$alt=${alt}` })).body);
    const titles = [...received.matchAll(/"title":"title (\d+)"/g)].map((match) => Number(match[1]));
    expect(titles).toEqual(Array.from({ length: 10_000 }, (_each, index) => index));
  });
});
