// The buttons of the account pages in a real browser, which reports what fails.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";
import { type TokenMember, createTokenMember, exchangeKey, statusWith } from "../support/token-servers.ts";
import { openBrowser } from "./chromium.ts";

interface Place {
  readonly url: string;
  readonly api: Api;
  readonly operatorKey: string;
  readonly page: Page;
  /** What the browser has reported. */
  readonly problems: string[];
  /** Signs the browser in as a member. */
  signIn(org: { readonly id: string }, member: { readonly id: string }): Promise<void>;
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ issuer });
});
afterAll(() => server.close());

async function openPlace({ url, databaseUrl: connectionString, operatorKey } = server): Promise<Place> {
  const onConnectionError = (): void => {};
  const options = { maxReadConnections: 1, maxWriteConnections: 1, onConnectionError };
  const database = openDatabase({ connection: { connectionString }, ...options });
  onTestFinished(() => database.close());
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 900, height: 800 } });
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  return {
    url,
    api: createApi("gRPC", url, operatorKey),
    operatorKey,
    page,
    problems,
    async signIn(org, member) {
      const code = await createSignInLink(database, { orgId: org.id, memberId: member.id });
      await page.goto(`${url}/sign-in?return_to=%2Faccount#${code}`);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.waitForURL(`${url}/account`);
    },
  };
}

/** Opens the page of keys and sessions, as the pages lead there. */
async function openKeys({ page }: Place): Promise<void> {
  await page.getByRole("link", { name: "Keys and sessions", exact: true }).click();
  await page.locator("#keys li").first().waitFor();
  await page.locator("#sessions li").first().waitFor();
}

/** Returns the times of a list of the page, as it shows them, without what is before them. */
const timesIn = (page: Page, list: string): Promise<string[]> => page.locator(`${list} time`).allTextContents();

async function newOwner({ api }: Place): Promise<{ org: { path: string; id: string }; member: TokenMember }> {
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  return { org, member: await createTokenMember(api, org.path, "owner") };
}

test("a person deletes a key and ends a session, each after a question that can be cancelled", async () => {
  const place = await openPlace();
  const { page, url, problems } = place;
  const { org, member } = await newOwner(place);
  const token = await exchangeKey({ url }, member.key, { scope: "offline_access" });
  await place.signIn(org, member);
  await openKeys(place);
  const dialog = page.getByRole("dialog");

  await page.getByRole("button", { name: "End tenantry_" }).click();
  expect(await dialog.textContent()).toContain("End the session of tenantry_");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect([await dialog.isVisible(), await statusWith({ url }, token, member.path)]).toEqual([false, 200]);
  await page.getByRole("button", { name: "End tenantry_" }).click();
  await dialog.getByRole("button", { name: "End" }).click();
  await expect.poll(() => page.locator("#sessions li").count()).toBe(1);
  expect(await statusWith({ url }, token, member.path)).toBe(401);

  await page.getByRole("button", { name: "Delete ci" }).click();
  expect(await dialog.textContent()).toContain(member.keyPath);
  await page.keyboard.press("Escape");
  expect([await dialog.isVisible(), await statusWith({ url }, member.key, member.path)]).toEqual([false, 200]);
  await page.getByRole("button", { name: "Delete ci" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.locator("#keys").getByText("None").waitFor();
  expect(await statusWith({ url }, member.key, member.path)).toBe(401);
  expect([await page.locator("#problem").isVisible(), problems]).toEqual([false, []]);
});

test("the end of the session of this browser leads to the sign-in, and back afterwards", async () => {
  const place = await openPlace();
  const { page, url, problems } = place;
  const { org, member } = await newOwner(place);
  await place.signIn(org, member);
  await openKeys(place);
  await page.getByText("this browser").waitFor();
  await page.getByRole("button", { name: "End Browser" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.textContent()).toContain("that of this browser");
  await dialog.getByRole("button", { name: "End" }).click();
  await page.waitForURL(/\/sign-in\?return_to=%2Faccount%2Fkeys/);
  expect(await statusWith({ url }, member.key, member.path)).toBe(200);
  expect(problems).toEqual([]);
});

test("the first key of the operator is deleted only after the page has said what it is", async () => {
  const own = await startTestServer({ issuer });
  onTestFinished(() => own.close());
  const place = await openPlace(own);
  const { page, url, operatorKey, problems } = place;
  const me = await fetch(`${url}/iam/v1alpha/me`, { headers: { authorization: `Bearer ${operatorKey}` } });
  const { org, member } = (await me.json()) as { org: { id: string }; member: { id: string; path: string } };
  await place.signIn(org, member);
  await openKeys(place);
  await page.getByRole("button", { name: "Delete Operator" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.textContent()).toContain("a key of the operator of this installation");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await statusWith({ url }, operatorKey, member.path)).toBe(200);
  await page.getByRole("button", { name: "Delete Operator" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.locator("#keys").getByText("None").waitFor();
  expect(await statusWith({ url }, operatorKey, member.path)).toBe(401);
  expect(problems).toEqual([]);
});

test("the pages show the times of keys and sessions alike", async () => {
  const place = await openPlace();
  const { page, api } = place;
  const { org, member } = await newOwner(place);
  const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 86_400), nanos: 0 };
  const apiKey = { name: "ending", expireTime };
  await api.apiKeys.createApiKey({ parentPath: member.path, apiKey });
  await place.signIn(org, member);
  const sections = page.locator("section h3");
  const onAccount = async (title: string): Promise<string[]> =>
    sections.filter({ hasText: title }).locator("xpath=following-sibling::ul[1]").locator("time").allTextContents();
  const [keys, sessions] = [await onAccount("API keys"), await onAccount("Sessions")];
  expect([keys.length, sessions.length]).toEqual([3, 2]);
  expect([...keys, ...sessions]).toEqual(
    keys.concat(sessions).map(() => expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/)),
  );
  await openKeys(place);
  expect([await timesIn(page, "#keys"), await timesIn(page, "#sessions")]).toEqual([keys, sessions]);
});

test("a path without a page leads back, and the button signs out", async () => {
  const place = await openPlace();
  const { page, url, problems } = place;
  const { org, member } = await newOwner(place);
  await place.signIn(org, member);
  for (const path of ["/account/nope", "/account/", "/sign-in/nope"]) {
    const response = await page.goto(`${url}${path}`);
    expect([response?.status(), await page.getByRole("alert").textContent()]).toEqual([
      404,
      `There is no page at ${path}.`,
    ]);
    await page.getByRole("link", { name: "Your account" }).click();
    await page.waitForURL(`${url}/account`);
  }
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${url}/sign-in`);
  await page.goto(`${url}/account`);
  await page.waitForURL(/\/sign-in\?/);
  expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
});
