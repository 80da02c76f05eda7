// Requests and methods that must not crash the server, bypass a check or hold a connection.
import http2 from "node:http2";
import net from "node:net";
import { type Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { RestHandlerOptions } from "../../../src/rest/rest-handler.ts";
import { ArticlesService } from "../gen/rest/test/v1/articles_pb.ts";
import { LibraryService, StreamingService } from "../gen/rest/test/v1/library_pb.ts";
import { articles } from "../support/articles.ts";
import { listenHttp1, listenHttp2, protocols } from "../support/listen.ts";

const path = "/v1/desks/1/articles/news";

/** Routes whose only GET calls `get`. */
function getting(get: (context: { responseHeader: Headers }) => object): RestHandlerOptions["routes"] {
  return (router) => router.service(ArticlesService, { getArticle: (_request, context) => get(context) });
}

describe.each(Object.entries(protocols))("over %s", (_name, listen) => {
  test("checks an entity tag in If-Match that is empty, or an asterisk in quotes", async () => {
    const { call } = await listen({ routes: articles() });
    for (const tag of ['""', 'W/""', '"*"', 'W/"*"']) {
      for (const method of ["PATCH", "DELETE"]) {
        const answer = await call({
          method,
          path,
          headers: { "if-match": tag },
          ...(method === "PATCH" && { body: "{}" }),
        });
        expect([answer.status, answer.error.details[0]?.["reason"]]).toEqual([412, "PRECONDITION_FAILED"]);
      }
    }
  });

  test("does not end a call whose deadline exceeds the maximum of a timer", async () => {
    const { call } = await listen({ routes: getting(() => ({ title: "a" })), timeoutMs: Number.MAX_SAFE_INTEGER });
    for (const headers of [{}, { "x-server-timeout": "2147484" }, { "grpc-timeout": "99999999H" }]) {
      expect((await call({ path, headers })).status).toBe(200);
    }
  });

  test("returns an error when contextValues throws", async () => {
    const { call } = await listen({
      routes: articles(),
      contextValues() {
        throw new Error("hunter2");
      },
    });
    expect([(await call({ path })).status, (await call({ path })).status]).toEqual([500, 500]);
  });

  // Node's HTTP/2 sends headers that its HTTP/1.1 rejects.
  test.runIf(listen === listenHttp1)(
    "removes the headers of a response from the error when one of them is invalid",
    async () => {
      const { call } = await listen({
        routes: getting(({ responseHeader }) => {
          responseHeader.set("cache-control", "public");
          responseHeader.set("x-broken", "\u0001");
          return {};
        }),
      });
      const answer = await call({ path });
      expect([answer.status, answer.headers["cache-control"], answer.error.status]).toEqual([
        500,
        undefined,
        "INTERNAL",
      ]);
    },
  );

  test.runIf(listen === listenHttp1)("returns an error for an invalid header of a stream", async () => {
    const { call } = await listen({
      routes: (router) =>
        router.service(StreamingService, {
          async *watch(_request, context) {
            context.responseHeader.set("x-broken", "\u0001");
            await new Promise((resolve) => setTimeout(resolve, 250));
            yield { title: "late" };
          },
        }),
    });
    expect((await call({ path: "/v1/shelves/1:watch" })).status).toBe(500);
  });

  test("maps an error with an undefined code to UNKNOWN", async () => {
    const { call } = await listen({
      routes: getting(() => {
        throw new ConnectError("odd", 0 as Code);
      }),
    });
    expect(await call({ path })).toMatchObject({ status: 500, error: { status: "UNKNOWN" } });
  });

  test("rejects an Accept with too many ranges, and ignores such an Accept-Encoding", async () => {
    const { call } = await listen({ routes: getting(() => ({ text: "x".repeat(5000) })) });
    expect((await call({ path, headers: { accept: "a/b,".repeat(1000) } })).status).toBe(400);
    const answer = await call({ path, headers: { "accept-encoding": "gzip,".repeat(1000) } });
    expect([answer.status, answer.headers["content-encoding"]]).toEqual([200, undefined]);
  });

  test("does not redirect to another host because of a backslash", async () => {
    const { call } = await listen({ routes: articles() });
    for (const target of ["/\\evil.example/", "//evil.example/"])
      expect((await call({ path: target })).status).toBe(404);
  });
});

test("reads a body that arrives in one-byte chunks", async () => {
  const { port } = await listenHttp1({ routes: articles() });
  const body = JSON.stringify({ title: "x".repeat(5000) });
  const socket = net.connect(port, "127.0.0.1");
  socket.write(
    "POST /v1/desks/1/articles HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n",
  );
  socket.write(`${Array.from(body, (byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`);
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  expect(answer).toMatch(/^HTTP\/1.1 201/);
});

describe("an HTTP/2 request whose body does not end", () => {
  const library: RestHandlerOptions["routes"] = (router) => {
    router.service(LibraryService, { createBook: ({ book }) => book ?? {} });
    router.service(StreamingService, { async *watch() {} });
  };

  /** Returns the status that was received before the stream closed. */
  async function send(port: number, headers: http2.OutgoingHttpHeaders, body = ""): Promise<number | undefined> {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    const stream = session.request(headers, { endStream: false });
    let status: number | undefined;
    stream.on("response", (received) => (status = received[":status"])).on("error", () => undefined);
    stream.resume();
    if (body !== "") stream.write(body);
    await new Promise((resolve) => stream.once("close", resolve));
    session.close();
    return status;
  }

  test.each(["HEAD", "OPTIONS"])("ends with the response to a %s", async (method) => {
    const { port } = await listenHttp2({ routes: library, timeoutMs: 200 });
    const status = await send(port, { ":method": method, ":path": "/v1/shelves/1/books" });
    expect(status).toBe(method === "HEAD" ? 408 : 204);
  });

  test("ends at the deadline, also for a streaming method", async () => {
    const { port } = await listenHttp2({ routes: library, timeoutMs: 200 });
    expect(await send(port, { ":method": "GET", ":path": "/v1/shelves/1:watch" })).toBe(408);
  });
});
