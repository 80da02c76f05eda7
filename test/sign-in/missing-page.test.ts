// Tests that browsers get a page, and all others JSON, where nothing is served.
import { beforeAll, describe, expect, test } from "vitest";
import { callHttp2, openHttp2 } from "../http/http2-client.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

/** What Chromium and Firefox send when somebody opens a page. */
const browsers = [
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "text/html",
];
const paths = ["/docs/guides", "/docs/reference/", "/nothing", "/iam", "/consoles/", "/nothing%3Cb%3E?a=b", "/a.b/c"];

const get = (path: string, accept: string, method = "GET") =>
  fetch(server.url + path, { method, headers: { accept }, redirect: "manual" });

describe.each(paths)("%s, where nothing is served,", (path) => {
  test.each(browsers)("answers with a page for Accept: %s", async (accept) => {
    const response = await get(path, accept);
    const body = await response.text();
    expect([response.status, response.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(body).toContain(`<code>${path.split("?")[0]}</code>`);
    for (const link of ["/docs", "/console/", "/account"]) expect(body).toContain(`<a href="${link}">`);
    const head = await get(path, accept, "HEAD");
    expect([head.status, await head.text()]).toEqual([404, ""]);
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
  });

  test.each([
    "*/*",
    "application/json",
    "application/json, text/html;q=0.9",
    "text/html;q=0, */*",
    `text/html, ${"a/b, ".repeat(300)}c/d`,
  ])("answers with JSON for Accept: %s", async (accept) => {
    const response = await get(path, accept);
    expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/json"]);
    expect(await response.json()).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
  });
});

test("a path of the API answers a browser with JSON", async () => {
  for (const path of ["/iam/v1alpha/nothing", "/resources/v1alpha/nothing", "/iam.v1alpha.OrgsService/Nothing"]) {
    const response = await get(path, "text/html");
    expect([path, response.headers.get("content-type")]).toEqual([path, "application/json"]);
    await response.body?.cancel();
  }
  const posted = await fetch(`${server.url}/nothing`, { method: "POST", headers: { accept: "text/html" } });
  expect(posted.headers.get("content-type")).toBe("application/json");
  await posted.body?.cancel();
});

test("the page is the same over HTTP/2, and a HEAD has no body", async () => {
  const session = await openHttp2(server.url);
  const [page, head] = [
    await callHttp2(session, { ":path": "/docs/guides", accept: "text/html" }),
    await callHttp2(session, { ":path": "/docs/guides", ":method": "HEAD", accept: "text/html" }),
  ];
  session.close();
  expect([page.status, head.status, head.body]).toEqual([404, 404, ""]);
  expect(page.body).toBe(await (await get("/docs/guides", "text/html")).text());
});
