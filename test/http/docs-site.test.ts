import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import openApi from "../../gen/openapi.json" with { type: "json" };
import { createDocsSite } from "../../src/http/docs/docs-site.ts";
import { guides } from "../../src/http/docs/guides.ts";
import { passagesOf, renderMarkdown } from "../../src/http/docs/render-markdown.ts";
import { answerError } from "../../src/http/plain-error.ts";
import { callHttp2, openHttp2 } from "./http2-client.ts";
import { type StartedListener, startListener } from "./start-listener.ts";

const document = JSON.stringify(openApi);

// Compresses all files, which takes a second.
const answerDocs = createDocsSite(openApi);

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function operationIdsOf({ paths }: { readonly paths: object }): string[] {
  const items = Object.values(paths) as Record<string, { operationId: string }>[];
  return items.flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
}

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
  test.each([
    "/docs/",
    "/docs/page.js",
    "/docs/page.css",
    "/docs/search.json",
    "/docs/reference.js",
    "/docs/reference/group-members.json",
    "/docs/swagger-ui-bundle.js",
    "/docs/filters",
  ])("serves %s with a content security policy for this host only", async (path) => {
    await using server = await start();
    const response = await fetch(server.url + path);
    expect([response.status, (await response.text()).length > 50]).toEqual([200, true]);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("names its files by their content, so that they are kept, and revalidates what has a fixed name", async () => {
    await using server = await start();
    const page = await (await fetch(`${server.url}/docs/`)).text();
    const links = [...page.matchAll(/"([\w./-]+\?v=[\w-]+)"/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(openApi.tags.length + 5);
    const cacheOf = async (path: string) => (await fetch(`${server.url}/docs/${path}`)).headers.get("cache-control");
    for (const link of links) expect([link, await cacheOf(link)]).toEqual([link, expect.stringContaining("immutable")]);
    expect(await cacheOf("")).toBe("no-cache");
    expect(await cacheOf("page.css")).toBe("no-cache");
    expect(await cacheOf("page.css?v=of-another-version")).toBe("no-cache");
  });

  test("is small until an operation is opened, and needs little more to show it", async () => {
    await using server = await start();
    const read = async (path: string) => (await fetch(`${server.url}/docs/${path}`)).text();
    const sizeOf = async (...paths: string[]) => {
      const texts = await Promise.all(paths.map(read));
      return texts.reduce((sum, text) => sum + gzipSync(text).length, 0);
    };
    expect(await sizeOf("", "page.css", "page.js", "reference.js")).toBeLessThan(30_000);
    expect(await sizeOf("search.json")).toBeLessThan(110_000);
    const sections = openApi.tags.map(({ name }) => `reference/${name.toLowerCase().replaceAll(" ", "-")}.json`);
    const sizes = await Promise.all(sections.map((section) => sizeOf(section)));
    expect(Math.max(...sizes)).toBeLessThan(25_000);
  });

  test("lists each operation once, and describes it in the document of its section with all that it refers to", async () => {
    await using server = await start();
    const page = await (await fetch(`${server.url}/docs/`)).text();
    const listed = [...page.matchAll(/<details class="operation" id="(\w+)">/g)].map(([, id = ""]) => id);
    const links = [...page.matchAll(/data-document="([^"]*)"/g)].map(([, link]) => link);
    const described = await Promise.all(
      links.map(async (link) => {
        const part = (await (await fetch(`${server.url}/docs/${link}`)).json()) as typeof openApi;
        for (const [, kind = "", name = ""] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
          expect(part.components).toHaveProperty([kind, name], (openApi.components as Components)[kind]?.[name]);
        }
        return operationIdsOf(part);
      }),
    );
    expect(described.flat().toSorted()).toEqual(operationIdsOf(openApi).toSorted());
    expect(listed.toSorted()).toEqual(operationIdsOf(openApi).toSorted());
  });

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
      expect([slug, loads.filter((tag) => /(?:src|href)="(?!\w[\w.-]*\?v=[\w-]+")/.test(tag))]).toEqual([slug, []]);
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

describe("the search", () => {
  test("has each operation and each heading of the guides, with links that lead there", async () => {
    await using server = await start();
    const entries = (await (await fetch(`${server.url}/docs/search.json`)).json()) as { kind: string; href: string }[];
    const operations = entries.filter(({ kind }) => kind === "operation").map(({ href }) => href);
    expect(operations.toSorted()).toEqual(
      operationIdsOf(openApi)
        .toSorted()
        .map((id) => `./#${id}`),
    );
    for (const { slug } of guides) {
      const html = await (await fetch(`${server.url}/docs/${slug}`)).text();
      const headings = [...html.matchAll(/<h\d id="([^"]+)"/g)].map(([, id]) => `${slug}#${id}`);
      const found = entries.map(({ href }) => href).filter((href) => href.startsWith(`${slug}#`));
      expect(found).toEqual(headings);
    }
  });

  test("has the text below a heading, without markup", () => {
    const markdown =
      "# A `b`\n\nSee [c](c.md)\nand **d**.\n\n```sh\ncurl\n```\n\n## E\n\n| f | g |\n|---|---|\n| h | i |\n";
    expect(passagesOf(markdown)).toEqual([
      { id: "a-b", heading: "A b", text: "See c and d. curl" },
      { id: "e", heading: "E", text: "f g h i" },
    ]);
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
