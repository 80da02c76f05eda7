// The page of the account in a real browser, which reports what fails.
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

/** Opens the keys of the only member in the console, as the page of the account leads there. */
async function openKeys({ page }: Place): Promise<void> {
  await page.getByRole("link", { name: "Keys and sessions" }).click();
  await page.getByRole("tab", { name: "API keys", selected: true }).waitFor();
}

async function newOwner({ api }: Place): Promise<{ org: { path: string; id: string }; member: TokenMember }> {
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  return { org, member: await createTokenMember(api, org.path, "owner") };
}

test("the page of the account leads to the keys and sessions of a member in the console, and so do its former addresses", async () => {
  const place = await openPlace();
  const { page, url, problems } = place;
  const { org, member } = await newOwner(place);
  await place.signIn(org, member);
  await openKeys(place);
  await page.getByRole("button", { name: "Delete ci" }).click();
  await page.getByRole("dialog").getByText("refused at once").waitFor();
  await page.keyboard.press("Escape");
  expect(await statusWith({ url }, member.key, member.path)).toBe(200);
  await page.getByRole("button", { name: "Delete ci" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No API keys.").waitFor();
  expect(await statusWith({ url }, member.key, member.path)).toBe(401);
  for (const path of ["/account/keys", "/account/keys/new?member=x"]) {
    await page.goto(`${url}${path}`);
    await page.waitForURL(`${url}/console/me`);
    await page.getByRole("link", { name: "API keys" }).waitFor();
  }
  expect(problems).toEqual([]);
});

test("the end of the session of this browser is announced, and leads to the sign-in and back", async () => {
  const place = await openPlace();
  const { page, url } = place;
  const { org, member } = await newOwner(place);
  await exchangeKey({ url }, member.key, { scope: "offline_access" });
  await place.signIn(org, member);
  await openKeys(place);
  await page.getByRole("tab", { name: "Sessions" }).click();
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "End tenantry_" }).click();
  await dialog.getByText("ends at once").waitFor();
  expect(await dialog.textContent()).not.toContain("this browser");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^End [^t]/ }).click();
  await dialog.getByText("is then signed out").waitFor();
  await dialog.getByRole("button", { name: "End" }).click();
  await page.waitForURL(/\/sign-in\?return_to=%2Fconsole%2Forgs/);
  expect(await statusWith({ url }, member.key, member.path)).toBe(200);
});

test("the first key of the operator is deleted only after the console has said what it is", async () => {
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
  await dialog.getByText("a key of the operator of this installation").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await statusWith({ url }, operatorKey, member.path)).toBe(200);
  await page.getByRole("button", { name: "Delete Operator" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No API keys.").waitFor();
  expect(await statusWith({ url }, operatorKey, member.path)).toBe(401);
  expect(problems).toEqual([]);
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
