import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createDocsSite } from "../../src/http/docs/docs-site.ts";
import { guides } from "../../src/http/docs/guides.ts";
import { renderMarkdown } from "../../src/http/docs/render-markdown.ts";
import { answerError } from "../../src/http/plain-error.ts";
import { callHttp2, openHttp2 } from "./http2-client.ts";
import { type StartedListener, startListener } from "./start-listener.ts";

const document = readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8");

// Compresses all files, which takes a second.
const answerDocs = createDocsSite(() => document);

function start(): Promise<StartedListener> {
  return startListener((request, response) => {
    if (answerDocs(request, response)) return;
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
  test.each(["/docs/", "/docs/reference.js", "/docs/page.css", "/docs/swagger-ui-bundle.js", "/docs/filters"])(
    "serves %s with a content security policy for this host only",
    async (path) => {
      await using server = await start();
      const response = await fetch(server.url + path);
      expect([response.status, (await response.text()).length > 50]).toEqual([200, true]);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
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

  test.each([
    ["POST", 405],
    ["PUT", 405],
    ["DELETE", 405],
    ["OPTIONS", 204],
  ])("answers %s with %i and the methods that there are", async (method, status) => {
    await using server = await start();
    for (const path of ["/openapi.json", "/docs/", "/docs/swagger-ui.css"]) {
      const response = await fetch(server.url + path, { method });
      expect([path, response.status, response.headers.get("allow")]).toEqual([path, status, "GET, HEAD, OPTIONS"]);
    }
  });

  test.each([
    "/docs/index.html",
    "/docs/filters.md",
    "/docs/filters/",
    "/docs/decisions/0001-one-database-real-postgres.md",
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

describe("the guides", () => {
  const pages = ["", ...guides.map(({ slug }) => slug)];

  /** Returns the HTML of all pages by their path below `/docs/`. */
  async function readPages(): Promise<ReadonlyMap<string, string>> {
    await using server = await start();
    const texts = await Promise.all(
      pages.map(async (slug) => {
        const response = await fetch(`${server.url}/docs/${slug}`);
        expect([slug, response.headers.get("content-type")]).toEqual([slug, "text/html; charset=utf-8"]);
        return [slug, await response.text()] as const;
      }),
    );
    return new Map(texts);
  }

  test("load nothing from other hosts, and have no inline scripts and styles", async () => {
    for (const [slug, html] of await readPages()) {
      const loads = [...html.matchAll(/<(?:script|link|img|iframe)[^>]*/g)].map(([tag]) => tag);
      expect([slug, loads.filter((tag) => /(?:src|href)="(?!\w[\w.-]*")/.test(tag))]).toEqual([slug, []]);
      expect([slug, html.match(/<style|<script>|\sstyle=|\son\w+=/)]).toEqual([slug, null]);
    }
  });

  test("have only links that lead somewhere", async () => {
    const html = await readPages();
    for (const [slug, text] of html) {
      const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, href = ""]) => href);
      expect(links.length).toBeGreaterThan(guides.length);
      for (const link of links.filter((each) => !each.startsWith("https:") && each !== "../openapi.json")) {
        const [page = "", heading] = link.split("#");
        const target = html.get(page === "" ? slug : page === "./" ? "" : page);
        expect(target, `${link} in /docs/${slug}`).toBeDefined();
        if (heading !== undefined) expect(target, `${link} in /docs/${slug}`).toContain(` id="${heading}"`);
      }
    }
  });
});

describe("Markdown", () => {
  const render = (text: string) => renderMarkdown(text, (link) => (link === "errors.md" ? "errors" : undefined));

  test.each([
    ["links to pages that are served", "[a](errors.md#b)", '<p><a href="errors#b">a</a></p>'],
    ["shows the text of other links", "[a **b**](../src/c.ts) d", "<p>a <strong>b</strong> d</p>"],
    ["keeps links to the web", "[a](https://example.com)", '<p><a href="https://example.com">a</a></p>'],
    ["has no links with scripts", "[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"],
    ["shows HTML as text", "<b onclick=x>", "<p>&lt;b onclick=x&gt;</p>"],
    [
      "gives headings ids",
      "# A `b`, c\n# A b c",
      '<h1 id="a-b-c">A <code>b</code>, c</h1>\n<h1 id="a-b-c-1">A b c</h1>',
    ],
    ["aligns without a style", "|a|\n|:-:|", /<th class="align-center">a<\/th>/],
  ])("%s", (_behavior, markdown, html) => {
    const rendered = render(markdown).trim();
    if (typeof html === "string") expect(rendered).toBe(html);
    else expect(rendered).toMatch(html);
  });
});
