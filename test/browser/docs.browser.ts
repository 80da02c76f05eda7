// The pages of /docs in a real browser: `npm run test:browser`, with Debian's chromium.
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { guides } from "../../src/http/docs/guides.ts";
import { openBrowser } from "./chromium.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

const document = readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8");

describe("/docs in Chromium", () => {
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

  test("keeps every section open, without requests to other hosts and without errors", async () => {
    const { paths } = JSON.parse(document) as { paths: Record<string, Record<string, { tags: string[] }>> };
    const described = Object.values(paths).flatMap((item) => Object.values(item));
    expect(new Set(described.flatMap(({ tags }) => tags)).size).toBeGreaterThan(11);
    await page.getByRole("button", { name: "Open all" }).click();
    await expect.poll(() => page.locator(".opblock").count()).toBe(described.length);
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    expect(await page.locator(".opblock").count()).toBe(described.length);
    await page.getByRole("button", { name: "Close all" }).click();
    await expect.poll(() => page.locator(".opblock").count()).toBe(0);
    expect([outside, problems]).toEqual([[], []]);
  });

  test("finds operations by words of their path, their id and their summary", async () => {
    const search = page.getByRole("searchbox");
    await search.fill("list members group");
    await expect.poll(() => page.locator(".opblock").count()).toBeGreaterThan(0);
    const ids = await page.locator(".opblock").evaluateAll((found) => found.map(({ id }) => id));
    expect(ids).toContain("operations-Group_members-listGroupMembers");
    expect(ids).not.toContain("operations-Members-listMembers");
    await search.fill("nothing has these words");
    await page.getByText("No operation has all of these words.").waitFor();
    await search.fill("listOrgs");
    await page.waitForSelector("#operations-Orgs-listOrgs");
  });

  test("follows a link to an operation, which the search does not cover", async () => {
    const other = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await other.goto(`${server.url}/docs/#/Members/listMembers`);
    const summary = other.locator("#operations-Members-listMembers .opblock-summary");
    const top = async () => (await summary.boundingBox())?.y ?? 0;
    await expect.poll(top).toBeLessThan(200);
    const search = await other.locator(".search").boundingBox();
    expect(await top()).toBeGreaterThanOrEqual((search?.y ?? 0) + (search?.height ?? 0));
    await other.close();
  });

  test("shows an operation on a screen or two, with its errors folded", async () => {
    const operation = page.locator("#operations-Orgs-listOrgs");
    expect((await operation.boundingBox())?.height).toBeLessThan(1800);
    const error = operation.getByRole("button", { name: /credentials|API key/ });
    await error.first().click();
    expect(await operation.locator(".responses-table").innerText()).toContain("TOKEN_MISSING");
    await error.first().click();
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
    // The browser reports the response 401, too.
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
