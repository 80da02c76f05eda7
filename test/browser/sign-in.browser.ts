// The pages of the sign-in in a real browser, which reports what the content security policy refuses.
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { createTokenMember, startTokenServers, statusWith } from "../support/token-servers.ts";
import { openBrowser } from "./chromium.ts";

test("a person signs in with Chromium, makes a key that is shown once, and signs out", async () => {
  const place = await startTokenServers();
  onTestFinished(() => place.close());
  const org = await place.api.orgs.createOrg({ org: { name: "acme" } });
  const member = await createTokenMember(place.api, org.path, "owner");
  const connection = { connectionString: place.servers[0].databaseUrl };
  const onConnectionError = (): void => {};
  const database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 1, onConnectionError });
  const code = await createSignInLink(database, { orgId: org.id, memberId: member.id });
  await database.close();
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({ colorScheme: "dark", viewport: { width: 900, height: 800 } });
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    await page.goto(`${place.servers[0].url}/sign-in#${code}`);
    expect(page.url()).not.toContain("#");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Name of the new key").fill("laptop");
    await page.getByRole("button", { name: "Make a key" }).click();
    await page.locator("#secret, #problem:not([hidden])").filter({ visible: true }).first().waitFor();
    expect(await page.locator("#problem").textContent()).toBe("");
    const key = await page.locator("#secret code").textContent();
    const { url } = place.servers[0];
    expect(await statusWith({ url }, key ?? "", member.path)).toBe(200);
    await page.emulateMedia({ colorScheme: "light" });
    await page.reload();
    await page.getByText("laptop").waitFor();
    expect(await page.content()).not.toContain(key ?? "");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${url}/sign-in`);
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
});
