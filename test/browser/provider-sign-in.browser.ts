// A sign-in through a real OpenID provider in a real browser, which reports what the content security policy refuses.
import { expect, onTestFinished, test } from "vitest";
import { uniqueName } from "../support/api.ts";
import { client, startOpenIdProvider } from "../support/openid-issuers.ts";
import { startTokenServers } from "../support/token-servers.ts";
import { openBrowser } from "./chromium.ts";

test("a person signs in with a provider in Chromium, after an owner linked the subject on the page", async () => {
  const place = await startTokenServers({ identityProviderNetworks: ["127.0.0.1/32"] });
  onTestFinished(() => place.close());
  const { url } = place.servers[0];
  const { api } = place;
  const openId = await startOpenIdProvider();
  onTestFinished(() => openId.close());
  const org = await api.orgs.createOrg({ org: { name: "acme" } });
  const provider = await api.identityProviders.createIdentityProvider({
    parentPath: org.path,
    identityProvider: {
      name: "login",
      displayName: "Acme login",
      issuer: openId.issuer,
      clientId: client.id,
      clientSecret: client.secret,
    },
  });
  const redirectUri = `/sign-in/callback/${provider.id}`;
  openId.serve(`https://iam.example.com${redirectUri}`);
  openId.person = uniqueName("person");
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    // The service has another name here than its clients know.
    await page.route("https://iam.example.com/**", (route) => {
      const { pathname, search } = new URL(route.request().url());
      return route.fulfill({ status: 302, headers: { location: `${url}${pathname}${search}` } });
    });
    const signIn = async (): Promise<void> => {
      await page.goto(`${url}/sign-in?org=acme`);
      await page.getByRole("button", { name: "Continue with Acme login" }).click();
      await page.waitForURL((at) => at.origin === url && at.pathname !== "/sign-in");
    };
    await signIn();
    expect(await page.getByRole("alert").textContent()).toContain("no member of this service has this identity");
    const subject = (await page.locator("dd code").last().textContent()) ?? "";
    expect(subject).toBe(openId.person);

    const alice = await api.members.createMember({ parentPath: org.path, member: { name: "alice" } });
    const identity = { name: "login", identityProviderPath: provider.path, subject };
    await api.identities.createIdentity({ parentPath: alice.path, identity });
    await signIn();
    expect(new URL(page.url()).pathname).toBe("/account");
    expect(await page.getByLabel("Signed in as").textContent()).toContain(alice.path);
    // The provider, on another port, has cookies of its own.
    const cookies = (await page.context().cookies(url)).filter(({ name }) => name.startsWith("__Host-"));
    expect(cookies.map(({ name, httpOnly, secure }) => [name, httpOnly, secure])).toEqual([
      ["__Host-tenantry", true, true],
    ]);
    // The page of a person who is not linked is refused with 403, which Chromium reports.
    expect(problems.filter((problem) => !problem.includes("403"))).toEqual([]);
  } finally {
    await browser.close();
  }
});
