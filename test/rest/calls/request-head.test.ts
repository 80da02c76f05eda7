// The head of a request: target, trailing slash, deadlines, headers passed to the method, compressed bodies.
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ArticlesService } from "../gen/rest/test/v1/articles_pb.ts";
import { articles } from "../support/articles.ts";
import { listenHttp1, protocols } from "../support/listen.ts";
import type { RestHandlerOptions } from "../../../src/rest/rest-handler.ts";

/** The default quality of Brotli takes ten times as long for the same size. */
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const path = "/v1/desks/1/articles/news";

/** Responds to each GET with what `see` returns for the method's context. */
function watched(see: (context: HandlerContext) => unknown): RestHandlerOptions["routes"] {
  return (router) =>
    router.service(ArticlesService, { getArticle: (_request, context) => ({ text: JSON.stringify(see(context)) }) });
}

describe.each(Object.entries(protocols))("over %s", (_name, listen) => {
  test("rejects a target that is too long", async () => {
    const { call } = await listen({ routes: articles(), maxTargetLength: 100 });
    const { status, error } = await call({ path: `/v1/${"x".repeat(100)}` });
    expect([status, error.details[0]?.["reason"]]).toEqual([414, "URL_TOO_LONG"]);
  });

  test("redirects a path with a trailing slash to the path without it", async () => {
    const { call } = await listen({ routes: articles() });
    const answer = await call({ method: "POST", path: "/v1/desks/1/articles/?a=b", body: "{}" });
    expect([answer.status, answer.headers["location"]]).toEqual([308, "/v1/desks/1/articles?a=b"]);
    for (const other of ["/v1/nothing/", "/", "//v1/desks/1/articles/", "/v1/desks/1/articles//"]) {
      expect((await call({ path: other })).status).toBe(404);
    }
  });

  test("responds to OPTIONS *", async () => {
    if (listen !== listenHttp1) return; // Node's HTTP/2 client does not send "*".
    const { call } = await listen({ routes: articles() });
    expect((await call({ method: "OPTIONS", path: "*" })).status).toBe(204);
  });

  test.each([
    [{ "grpc-timeout": "60000m" }, 60_000],
    [{ "grpc-timeout": "90S" }, 90_000],
    [{ "x-server-timeout": "30.5" }, 30_500],
    [{ "x-server-timeout": "30.5", "grpc-timeout": "1H" }, 30_500],
    [{ "grpc-timeout": "1H" }, 120_000],
    [{}, 120_000],
  ])("gives a call with %j no more than %i ms", async (headers, limit) => {
    const { call } = await listen({ routes: watched((context) => context.timeoutMs()), timeoutMs: 120_000 });
    const answer: { text: string } = JSON.parse((await call({ path, headers })).text);
    expect(Number(answer.text)).toBeLessThanOrEqual(limit);
    expect(Number(answer.text)).toBeGreaterThan(limit - 20_000);
  });

  test("ends a call at the caller's deadline", async () => {
    const { call } = await listen({
      routes: (router) =>
        router.service(ArticlesService, { getArticle: () => new Promise((resolve) => setTimeout(resolve, 5000, {})) }),
    });
    const { status, error } = await call({ path, headers: { "grpc-timeout": "50m" } });
    expect([status, error.status]).toEqual([504, "DEADLINE_EXCEEDED"]);
  });

  test.each([
    [{ "grpc-timeout": "5" }, "Grpc-Timeout"],
    [{ "grpc-timeout": "123456789S" }, "Grpc-Timeout"],
    [{ "grpc-timeout": "-1S" }, "Grpc-Timeout"],
    [{ "x-server-timeout": "soon" }, "X-Server-Timeout"],
  ])("rejects the timeout in %j", async (headers, name) => {
    const { call } = await listen({ routes: articles() });
    const { status, error } = await call({ path, headers });
    expect([status, error.message]).toEqual([400, expect.stringContaining(`${name} must be`)]);
  });

  test("passes headers to the method, except connection headers and denied ones", async () => {
    const see = ({ requestHeader }: HandlerContext): unknown => Object.fromEntries(requestHeader);
    const { call } = await listen({ routes: watched(see), deniedHeaders: ["X-Internal-User"] });
    const headers = { "x-internal-user": "root", te: "trailers", "x-trace": "1", "grpc-metadata-x-internal-user": "a" };
    const answer: { text: string } = JSON.parse((await call({ path, headers })).text);
    expect(JSON.parse(answer.text)).toEqual({ "x-trace": "1", "grpc-metadata-x-internal-user": "a" });
  });

  test.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["br", brotliCompressSync],
    ["BR", brotliCompressSync],
    ["identity", (body: string) => Buffer.from(body)],
  ])("decompresses a body with Content-Encoding %s", async (coding, compress) => {
    const { call } = await listen({ routes: articles() });
    const body = compress('{"title":"new"}');
    const headers = { "content-encoding": coding };
    expect((await call({ method: "POST", path: "/v1/desks/1/articles", headers, body })).status).toBe(201);
  });

  test.each([
    ["gzip", Buffer.from('{"title":"new"}'), 400, "does not match its Content-Encoding"],
    ["gzip", gzipSync('{"title":"new"}').subarray(0, -4), 400, "does not match its Content-Encoding"],
    ["br", gzipSync('{"title":"new"}'), 400, "does not match its Content-Encoding"],
    ["gzip", gzipSync(Buffer.alloc(50_000_000)), 413, "after decompression"],
    ["br", brotliCompressSync(Buffer.alloc(50_000_000), quickly), 413, "after decompression"],
    ["deflate", Buffer.from("x"), 415, "gzip or br"],
    ["gzip, br", Buffer.from("x"), 415, "gzip or br"],
  ])("rejects a corrupt, oversized or unsupported %s body", async (coding, body, status, message) => {
    const { call } = await listen({ routes: articles(), maxBodyBytes: 100_000 });
    const headers = { "content-encoding": coding };
    const answer = await call({ method: "POST", path: "/v1/desks/1/articles", headers, body });
    expect([answer.status, answer.error.message]).toEqual([status, expect.stringContaining(message)]);
    if (status === 415) expect(answer.headers["accept-encoding"]).toBe("gzip, br");
  });

  test("returns 409, not 412, for ABORTED without If-Match", async () => {
    const { call } = await listen({
      routes: (router) =>
        router.service(ArticlesService, {
          getArticle() {
            throw new ConnectError("try again", Code.Aborted);
          },
        }),
    });
    expect((await call({ path })).status).toBe(409);
  });
});
