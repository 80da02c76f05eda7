import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { createApiReference } from "../../src/http/api-reference.ts";
import { answerError } from "../../src/http/plain-error.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { hasChromium, openBrowser } from "./chromium.ts";
import { callHttp2, openHttp2 } from "./http2-client.ts";
import { type StartedListener, startListener } from "./start-listener.ts";

const document = readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8");

// Compresses all files, which takes a second.
const answerReference = createApiReference(document);

function start(): Promise<StartedListener> {
  return startListener((request, response) => {
    if (answerReference(request, response)) return;
    answerError(response, { code: 404, status: "NOT_FOUND", reason: "PAGE_NOT_FOUND", message: "elsewhere" });
  });
}

describe("/openapi.json", () => {
  test("serves the generated document, with CORS for any origin", async () => {
    await using server = await start();
    const response = await fetch(`${server.url}/openapi.json`);
    expect(await response.text()).toBe(document);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("is compressed if the client accepts it, over HTTP/1.1 and HTTP/2", async () => {
    await using server = await start();
    const response = await fetch(`${server.url}/openapi.json`, { headers: { "accept-encoding": "gzip" } });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(await response.text()).toBe(document);
    const refused = await fetch(`${server.url}/openapi.json`, { headers: { "accept-encoding": "gzip;q=0, identity" } });
    expect(refused.headers.get("content-encoding")).toBeNull();
    const session = await openHttp2(server.url);
    const overHttp2 = await callHttp2(session, { ":path": "/openapi.json" });
    session.close();
    expect([overHttp2.status, overHttp2.body]).toEqual([200, document]);
  });

  test("responds with 304 to a matching If-None-Match", async () => {
    await using server = await start();
    const etag = (await fetch(`${server.url}/openapi.json`)).headers.get("etag") ?? "";
    const again = await fetch(`${server.url}/openapi.json`, { headers: { "if-none-match": etag } });
    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
    const other = await fetch(`${server.url}/openapi.json`, { headers: { "if-none-match": 'W/"other"' } });
    expect(other.status).toBe(200);
  });
});

describe("/docs/", () => {
  test.each(["/docs/", "/docs/page.js", "/docs/page.css", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"])(
    "serves %s with a content security policy for this host only",
    async (path) => {
      await using server = await start();
      const response = await fetch(server.url + path);
      expect([response.status, (await response.text()).length > 50]).toEqual([200, true]);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'self'");
      expect(policy).not.toMatch(/unsafe|https?:/);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    },
  );

  test("is the redirect target of /docs", async () => {
    await using server = await start();
    const response = await fetch(`${server.url}/docs`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([308, "/docs/"]);
  });

  test("responds to HEAD without a body", async () => {
    await using server = await start();
    const response = await fetch(`${server.url}/docs/`, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(100);
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("rejects %s", async (method) => {
    await using server = await start();
    for (const path of ["/openapi.json", "/docs/", "/docs/swagger-ui.css"]) {
      const response = await fetch(server.url + path, { method });
      expect([path, response.status, response.headers.get("allow")]).toEqual([path, 405, "GET, HEAD"]);
    }
  });

  test.each([
    "/docs/index.html",
    "/docs/package.json",
    "/docs/swagger-initializer.js",
    "/docs/..%2fpackage.json",
    "/docs/__proto__",
  ])("does not serve %s", async (path) => {
    await using server = await start();
    expect((await fetch(server.url + path)).status).toBe(404);
  });

  test("ignores other paths", async () => {
    await using server = await start();
    for (const path of ["/", "/docsx", "/openapi.jsonx", "/iam/v1alpha/orgs"]) {
      expect(await (await fetch(server.url + path)).text()).toContain("elsewhere");
    }
  });
});

describe.skipIf(!hasChromium)("in a browser (skipped without Debian's chromium)", () => {
  let server: TestServer;
  let browser: Browser;
  /** One page for all tests, because it takes seconds to load. */
  let page: Page;
  /** The URLs of other hosts that the page requested, and the errors that it logged. */
  const outside: string[] = [];
  const problems: string[] = [];
  beforeAll(async () => {
    server = await startTestServer();
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${server.url}/`) && !url.startsWith("data:")) outside.push(url);
    });
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(`${server.url}/docs/#/Orgs/listOrgs`);
    await page.waitForSelector("#operations-Orgs-listOrgs .opblock-body");
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  test("shows every operation, without requests to other hosts and without errors", async () => {
    const { paths } = JSON.parse(document) as { paths: Record<string, Record<string, { tags: string[] }>> };
    const described = Object.values(paths).flatMap((item) => Object.values(item));
    const sections = page.locator(".opblock-tag-section");
    const counts: Record<string, number> = {};
    // One after the other: with many rows in all, the page has only those in its DOM that can be seen.
    for (let index = 0; index < (await sections.count()); index++) {
      const section = sections.nth(index);
      const tag = section.locator(".opblock-tag");
      const name = (await tag.getAttribute("data-tag")) ?? "";
      const wasOpen = await section.evaluate((element) => element.classList.contains("is-open"));
      if (!wasOpen) await tag.click();
      counts[name] = described.filter(({ tags }) => tags.includes(name)).length;
      await expect.poll(() => section.locator(".opblock").count()).toBe(counts[name]);
      if (!wasOpen) await tag.click();
    }
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(described.length);
    expect([outside, problems]).toEqual([[], []]);
  });

  test("sends a call with the pasted token", async () => {
    await page.locator(".btn.authorize").first().click();
    await page.locator(".auth-container input").fill(server.operatorKey);
    await page.locator(".auth-btn-wrapper .authorize").click();
    await page.locator(".auth-btn-wrapper .btn-done").click();
    const operation = page.locator("#operations-Orgs-listOrgs");
    await operation.locator(".try-out__btn").click();
    await operation.locator(".execute").click();
    await operation.locator(".live-responses-table tbody td.response-col_status").waitFor();
    expect(await operation.locator(".live-responses-table tbody td.response-col_status").innerText()).toContain("200");
    expect(await operation.locator(".live-responses-table").innerText()).toContain("/orgs/system");
    expect([outside, problems]).toEqual([[], []]);
  });

  test("fits the width of a phone", async () => {
    await page.setViewportSize({ width: 390, height: 900 });
    expect(await page.locator("html").evaluate((element) => element.scrollWidth)).toBeLessThanOrEqual(390);
  });
});
