// The pages of the sign-in in a real browser, which reports what the content security policy refuses.
import pMap from "p-map";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { createApi } from "../support/api.ts";
import { issuer, startTestServer } from "../support/test-server.ts";
import { createTokenMember, exchangeKey, statusWith } from "../support/token-servers.ts";
import { openBrowser } from "./chromium.ts";

test("a person signs in with Chromium, sees what can act as it, allows a client, and ends everything", async () => {
  const server = await startTestServer({ issuer });
  onTestFinished(() => server.close());
  const { url, databaseUrl, operatorKey } = server;
  const api = createApi("gRPC", url, operatorKey);
  const org = await api.orgs.createOrg({ org: { name: "acme" } });
  const member = await createTokenMember(api, org.path, "owner");
  const connection = { connectionString: databaseUrl };
  const onConnectionError = (): void => {};
  const database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 1, onConnectionError });
  const code = await createSignInLink(database, { orgId: org.id, memberId: member.id });
  await database.close();
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({ colorScheme: "dark", viewport: { width: 900, height: 800 } });
    const problems: string[] = [];
    page.on("console", (message) => {
      // Nothing serves the page of the client, or an icon for it.
      const isOfClient = /\/(callback\?.*|favicon.ico)$/.test(message.location().url);
      if (message.type() === "error" && !isOfClient) problems.push(`${message.text()} ${message.location().url}`);
    });
    await page.goto(`${url}/sign-in?return_to=%2Faccount#${code}`);
    expect(page.url()).not.toContain("#");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${url}/account`);
    const apiKey = { name: "laptop" };
    const { secret: key } = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey });
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 360, height: 740 });
    // With that of the browser, more than a page of a list. All of them wait for the lock of their organisation, so a few at a time.
    const start = () => exchangeKey({ url }, member.key, { scope: "offline_access" });
    await pMap(Array.from({ length: 100 }), start, { concurrency: 4 });
    await page.reload();
    await page.getByText("laptop").waitFor();
    const sessions = page.locator("h3", { hasText: /^Sessions$/ }).locator("xpath=following-sibling::ul[1]/li");
    expect(await sessions.count()).toBe(101);
    expect(await page.content()).not.toContain(key ?? "");
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const client = await api.clients.createClient({
      parentPath: org.path,
      client: { name: "console", displayName: "Acme console", redirectUris: ["http://127.0.0.1/callback"] },
    });
    const request = new URLSearchParams({
      response_type: "code",
      client_id: client.id,
      redirect_uri: `${url.replace("localhost", "127.0.0.1")}/callback`,
      code_challenge: "x".repeat(43),
      code_challenge_method: "S256",
      scope: "iam.members.get iam.apiKeys.* offline_access",
    });
    await page.goto(`${url}/oauth2/authorize?${request.toString()}`);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL(/\/callback\?error=access_denied/);
    await page.goto(`${url}/oauth2/authorize?${request.toString()}`);
    // There is one member, so there is nothing to choose.
    await page.getByRole("button", { name: "Allow" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/callback\?code=/);
    await page.goto(`${url}/account`);
    await page.getByText("laptop").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.getByRole("button", { name: "End everything that can act as me" }).click();
    await page.getByRole("heading", { name: "All ended" }).waitFor();
    expect(await statusWith({ url }, key ?? "", member.path)).toBe(401);
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
});
