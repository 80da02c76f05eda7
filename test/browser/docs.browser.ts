// The pages of /docs in a real browser: `npm run test:browser`.
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import openApi from "../../gen/openapi.json" with { type: "json" };
import { guides } from "../../src/http/docs/guides.ts";
import { openBrowser } from "./chromium.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

const described = Object.values(openApi.paths).flatMap((item) => Object.values(item) as { operationId: string }[]);

describe("/docs in Chromium", () => {
  let server: TestServer;
  let browser: Browser;
  /** One page for most tests. It begins with an operation that is open. */
  let page: Page;
  /** The URLs of other hosts that the page requested, and the errors that it logged. */
  const outside: string[] = [];
  const problems: string[] = [];
  const watch = (watched: Page): Page => {
    watched.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${server.url}/`) && !url.startsWith("data:")) outside.push(url);
    });
    watched.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    watched.on("pageerror", (error) => problems.push(error.message));
    return watched;
  };
  const openPage = async (path: string): Promise<Page> => {
    const opened = watch(await browser.newPage({ viewport: { width: 1280, height: 900 } }));
    await opened.goto(`${server.url}/docs/${path}`);
    return opened;
  };
  beforeAll(async () => {
    server = await startTestServer();
    browser = await openBrowser();
    // As links to an operation were in earlier versions.
    page = await openPage("#/Orgs/listOrgs");
    await page.waitForSelector("#listOrgs .opblock-body");
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  test("lists all operations and searches with few bytes and elements, before Swagger UI is loaded", async () => {
    const other = await openPage("");
    expect(await other.locator(".operation").count()).toBe(described.length);
    await other.getByRole("searchbox").fill("list members group");
    await other.locator("#results a").first().waitFor();
    const { files, bytes, elements } = await other.evaluate<{
      files: string[];
      bytes: number;
      elements: number;
    }>(`(() => {
      const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
      return {
        files: loaded.map(({ name }) => new URL(name).pathname),
        bytes: loaded.reduce((sum, { transferSize }) => sum + transferSize, 0),
        elements: document.querySelectorAll("*").length,
      };
    })()`);
    const own = ["", "page.css", "page.js", "reference.js", "search.json", "favicon-32x32.png"];
    expect(own.map((name) => `/docs/${name}`)).toEqual(expect.arrayContaining(files));
    expect(bytes).toBeLessThan(135_000);
    expect(elements).toBeLessThan(2_500);
    await other.close();
  });

  test("loads for an operation only what shows it, once", async () => {
    const other = await openPage("");
    const requested: string[] = [];
    other.on("request", (request) => requested.push(new URL(request.url()).pathname));
    // Chromium asks its cache for the icon whenever the URL changes.
    const isFile = (path: string): boolean => !path.endsWith(".png");
    await other.locator("#orgs > summary").click();
    for (const id of ["getOrg", "listOrgs"]) {
      await other.locator(`#${id} > summary`).click();
      await other.locator(`#${id} .opblock-body .responses-wrapper`).waitFor();
      expect(await other.locator(`#${id} *`).count()).toBeLessThan(1_500);
    }
    const files = ["swagger-ui-bundle.js", "swagger-ui.css", "reference/orgs.json"].map((name) => `/docs/${name}`);
    expect(requested.filter(isFile).toSorted()).toEqual(files.toSorted());
    expect(new URL(other.url()).hash).toBe("#listOrgs");
    await other.close();
  });

  test("keeps every section open, without requests to other hosts and without errors", async () => {
    await page.getByRole("button", { name: "Open all" }).click();
    const rows = page.locator(".operation > summary");
    await expect.poll(() => rows.filter({ visible: true }).count()).toBe(described.length);
    await page.getByRole("button", { name: "Close all" }).click();
    await expect.poll(() => rows.filter({ visible: true }).count()).toBe(0);
    await page.getByText("About the API").click();
    expect(await page.getByText("Manages the organisations").isVisible()).toBe(true);
    expect([outside, problems]).toEqual([[], []]);
  });

  test("finds operations by words of their path, their id and their summary", async () => {
    const results = page.locator("#results");
    await page.keyboard.press("/");
    await page.keyboard.type("list members group");
    await expect.poll(() => results.locator("a").count()).toBeGreaterThan(0);
    const links = await results.locator("a").evaluateAll((found) => found.map((link) => link.getAttribute("href")));
    expect(links).toContain("./#listGroupMembers");
    expect(links).not.toContain("./#listMembers");
    await page.keyboard.press("Escape");
    expect([await results.isVisible(), await page.locator("#reference").isVisible()]).toEqual([false, true]);
    const search = page.getByRole("searchbox");
    await search.fill("no.such(word");
    await page.getByText("Nothing has all of these words.").waitFor();
    await search.fill("getMember");
    await results.locator('a[href="./#getMember"]').click();
    await page.locator("#getMember .opblock-body").waitFor();
    expect(await results.isVisible()).toBe(false);
  });

  test("finds passages of guides from every page, and leads to them", async () => {
    const other = await openPage("versions");
    const search = other.getByRole("searchbox");
    await search.fill("paging [a-z");
    await other.getByText("Nothing has all of these words.").waitFor();
    await search.fill("page_token opaque");
    const found = other.locator("#results li", { has: other.locator('a[href^="paging#"]') }).first();
    await found.waitFor();
    expect(await found.locator("mark").allInnerTexts()).toContain("page_token");
    await search.press("Enter");
    await other.waitForURL(/\/docs\/paging#/);
    expect(await other.locator(":target").isVisible()).toBe(true);
    await other.close();
  });

  test("shows the address of this service in examples", async () => {
    const other = await openPage("");
    const { host } = new URL(server.url);
    for (const { slug } of guides) {
      await other.goto(`${server.url}/docs/${slug}`);
      const examples = await other.locator("main :is(code, a)").allInnerTexts();
      expect([slug, examples.filter((example) => example.includes("localhost:8080"))]).toEqual([slug, []]);
      expect([slug, examples.join("\n").includes(host)]).toEqual([slug, withAddress.has(slug)]);
    }
    await other.close();
  });

  test("follows a link to an operation, which the search does not cover", async () => {
    const other = await openPage("#listMembers");
    const summary = other.locator("#listMembers > summary");
    const top = async () => (await summary.boundingBox())?.y ?? 0;
    await expect.poll(top).toBeLessThan(200);
    const search = await other.locator(".search").boundingBox();
    expect(await top()).toBeGreaterThanOrEqual((search?.y ?? 0) + (search?.height ?? 0));
    await other.close();
  });

  test("shows an operation on a screen or two, with its errors folded", async () => {
    await page.goto(`${server.url}/docs/#listOrgs`);
    const operation = page.locator("#listOrgs");
    await operation.locator(".opblock-body .responses-wrapper").waitFor();
    expect((await operation.boundingBox())?.height).toBeLessThan(1800);
    const error = operation.getByRole("button", { name: /credentials|API key/ });
    await error.first().click();
    expect(await operation.locator(".responses-table").innerText()).toContain("TOKEN_MISSING");
    await error.first().click();
  });

  test("sends a call with the pasted key", async () => {
    await page.locator("#key").fill(server.operatorKey);
    const operation = page.locator("#listOrgs");
    await operation.locator(".try-out__btn").click();
    await operation.locator(".execute").click();
    await operation.locator(".live-responses-table tbody td.response-col_status").waitFor();
    expect(await operation.locator(".live-responses-table tbody td.response-col_status").innerText()).toContain("200");
    expect(await operation.locator(".live-responses-table").innerText()).toContain("/orgs/system");
    expect(await operation.locator(".request-url").innerText()).toContain(`${server.url}/iam/v1alpha/orgs`);
    expect([outside, problems]).toEqual([[], []]);
    // The key is in no storage and no URL.
    const kept = await page.evaluate("[location.href, document.cookie, localStorage.length, sessionStorage.length]");
    expect(kept).toEqual([`${server.url}/docs/#listOrgs`, "", 0, 0]);
  });

  test.each(["listOrgs", "updateMember"])("takes every button of %s", async (id) => {
    const other = await openPage(`#${id}`);
    await other.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await other.locator("#key").fill(server.operatorKey);
    const operation = other.locator(`#${id}`);
    await operation.locator(".responses-wrapper").waitFor();
    const pressed = await pressAll(operation);
    expect(pressed).toEqual(expect.arrayContaining(["Try it out", "Execute", "Cancel", "Example Value", "Schema"]));
    // The browser reports refused calls, too.
    const own = problems.splice(0).filter((problem) => !problem.startsWith("Failed to load resource"));
    expect([outside, own]).toEqual([[], []]);
    await other.close();
  });

  test("says that an operation cannot be shown, and shows it when it is opened again", async () => {
    const other = await openPage("");
    await other.route("**/swagger-ui-bundle.js*", (route) => route.abort());
    await other.locator("#orgs > summary").click();
    const operation = other.locator("#listOrgs");
    await operation.locator("> summary").click();
    await operation.locator(".problem").waitFor();
    await other.unroute("**/swagger-ui-bundle.js*");
    await operation.locator("> summary").click();
    await operation.locator("> summary").click();
    await operation.locator(".opblock-body").waitFor();
    expect(await operation.locator(".problem").count()).toBe(0);
    problems.length = 0;
    await other.close();
  });

  test.each(["", ...guides.map(({ slug }) => slug)])("fits the width of a phone: /docs/%s", async (slug) => {
    await page.setViewportSize({ width: 390, height: 900 });
    await page.goto(`${server.url}/docs/${slug}`);
    expect(await page.locator("html").evaluate((element) => element.scrollWidth)).toBeLessThanOrEqual(390);
    expect([outside, problems]).toEqual([[], []]);
  });

  test("lists the operations of the service's catalog, whose texts stay texts", async () => {
    await createCatalog(server);
    await page.goto(`${server.url}/docs/operations`);
    const key = page.getByLabel("API key or access token");
    await key.fill("tenantry_wrong");
    await page.getByRole("button", { name: "Show the catalog" }).click();
    await page.getByRole("alert").waitFor();
    // The browser reports the three responses 401, too, some of them after what the page says.
    await expect.poll(() => problems).toHaveLength(3);
    problems.length = 0;
    await key.fill(server.operatorKey);
    await key.press("Enter");
    const type = page.locator(".catalog-type");
    await type.locator("summary").click();
    const text = await type.innerText();
    expect(text).toContain("/services/compute/resourceTypes/instances create, delete");
    expect(text).toContain("compute.instances.create");
    expect(text).toContain(hostile);
    const rows = await type.locator("tbody tr").allInnerTexts();
    expect(rows.map((row) => row.split("\t"))).toEqual([
      ["input", "cpu_cores", "core", "yes", "1", "64", "0.5", "", "yes"],
      ["input", "iso_27001", "grade", "", "", "2", "", "", ""],
      ["output", "cpu_cores", "core", "", "", "", "0.1", "", "yes"],
    ]);
    expect([outside, problems]).toEqual([[], []]);
    // The key is in no storage and no URL.
    const kept = await page.evaluate("[location.href, document.cookie, localStorage.length, sessionStorage.length]");
    expect(kept).toEqual([`${server.url}/docs/operations`, "", 0, 0]);
  });
});

/** Presses each button once that there is, and those that appear because of that. @returns what is written on them. */
async function pressAll(operation: Locator): Promise<string[]> {
  const pressed = new Map<string, string>();
  const buttons = operation.locator("button:enabled").filter({ visible: true });
  for (;;) {
    const named = await buttons.evaluateAll((all) =>
      all.map(({ className, textContent }, index) => ({
        name: textContent.trim(),
        key: `${className} ${textContent}`,
        index,
      })),
    );
    // These two take others away.
    const rank = ({ name }: { readonly name: string }): number => ["Clear", "Cancel"].indexOf(name) + 1;
    const next = named.filter(({ key }) => !pressed.has(key)).toSorted((one, other) => rank(one) - rank(other))[0];
    if (next === undefined) return [...pressed.values()];
    pressed.set(next.key, next.name);
    await buttons.nth(next.index).click();
  }
}

/** The guides with examples that call the service. */
const withAddress = new Set([
  "findings",
  "running",
  "start",
  "sign-in",
  "account",
  "invitations",
  "scim",
  "support-access",
  "operations",
  "filters",
  "paging",
  "usage",
  "changes",
  "webhooks",
  "signals",
  "grpc-and-connect",
  "clients",
  "providers",
]);

const hostile = '<img src=x onerror="alert(1)"></script>';

async function createCatalog({ url, operatorKey }: TestServer): Promise<void> {
  const headers = { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" };
  const create = async (path: string, resource: unknown) => {
    const body = JSON.stringify(resource);
    const response = await fetch(`${url}/resources/v1alpha/${path}`, { method: "POST", headers, body });
    expect([path, response.status, await response.text()]).toEqual([path, 201, expect.anything()]);
  };
  await create("services", { name: "compute" });
  await create("quantityKinds", { name: "cpu_cores", unit: "core", step: 0.1 });
  await create("qualityKinds", { name: "iso_27001", highest_grade: 2 });
  const quantities = [{ kind: "cpu_cores", required: true, minimum: 1, maximum: 64, step: 0.5, counted: true }];
  const operation = { verb: "create", description: hostile, quantities, given_quantities: [{ kind: "cpu_cores" }] };
  await create("services/compute/resourceTypes", {
    name: "instances",
    collection: "instances",
    operations: [{ ...operation, qualities: [{ kind: "iso_27001" }] }, { verb: "delete" }],
  });
}
