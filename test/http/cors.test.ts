import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
import { ArticleSchema } from "../rest/gen/rest/test/v1/articles_pb.ts";
import { articles } from "../rest/support/articles.ts";
import { withCors } from "../../src/http/cors.ts";
import type { HttpHandler } from "../../src/http/http-messages.ts";
import { callHttp2, openHttp2 } from "./http2-client.ts";
import { startListener } from "./start-listener.ts";

const handler: HttpHandler = (request, response) => {
  response.statusCode = request.method === "OPTIONS" ? 299 : 200;
  response.end("answered");
};

const page = "https://console.example.com";
const preflight = {
  method: "OPTIONS",
  headers: {
    origin: page,
    "access-control-request-method": "PATCH",
    "access-control-request-headers": "authorization",
  },
};

test("responds to the preflight request of an allowed origin", async () => {
  await using server = await startListener(withCors(handler, [page]));
  const answer = await fetch(server.url, preflight);
  expect([answer.status, await answer.text()]).toEqual([204, ""]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "access-control-allow-origin": page,
    "access-control-allow-methods": "GET,HEAD,POST,PUT,PATCH,DELETE",
    "access-control-allow-headers": "authorization",
    "access-control-max-age": "7200",
    vary: "Origin, Access-Control-Request-Headers",
  });
  expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
});

test("exposes the response and its relevant headers to an allowed origin", async () => {
  await using server = await startListener(withCors(handler, [page]));
  const answer = await fetch(server.url, { headers: { origin: page } });
  expect(await answer.text()).toBe("answered");
  expect(answer.headers.get("access-control-allow-origin")).toBe(page);
  expect(answer.headers.get("access-control-expose-headers")?.split(",")).toEqual(
    expect.arrayContaining([
      "ETag",
      "Location",
      "RateLimit",
      "RateLimit-Policy",
      "Retry-After",
      "X-Request-Id",
      "Grpc-Status",
    ]),
  );
});

test("allows nothing to another origin", async () => {
  await using server = await startListener(withCors(handler, [page, "http://localhost:5173"]));
  for (const origin of ["https://evil.example", `${page}.evil.example`, "http://console.example.com", "null"]) {
    const headers = { ...preflight.headers, origin };
    const answer = await fetch(server.url, { method: "OPTIONS", headers });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    expect((await fetch(server.url, { headers: { origin } })).headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("allows every origin if configured", async () => {
  await using server = await startListener(withCors(handler, ["*"]));
  const answer = await fetch(server.url, preflight);
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
});

test("passes an OPTIONS that is no preflight to the service, and every request if no origin is configured", async () => {
  await using cors = await startListener(withCors(handler, [page]));
  expect((await fetch(cors.url, { method: "OPTIONS" })).status).toBe(299);
  await using plain = await startListener(withCors(handler, []));
  const answer = await fetch(plain.url, preflight);
  expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([299, null]);
});

test("keeps the other values of Vary", async () => {
  const article = create(ArticleSchema, { path: "desks/1/articles/a", text: "long ".repeat(1000) });
  await using server = await startListener(withCors(createRestHandler({ routes: articles(article) }), [page]));
  const answer = await fetch(`${server.url}/v1/desks/1/articles/a`, { headers: { origin: page } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("vary")).toBe("Origin, accept-encoding");
});

test("works over HTTP/2", async () => {
  await using server = await startListener(withCors(handler, [page]));
  const session = await openHttp2(server.url);
  const answer = await callHttp2(session, { ":path": "/", origin: page });
  session.close();
  expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, page]);
});
