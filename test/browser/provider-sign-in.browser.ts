// A sign-in through a real OpenID provider in a real browser, which reports what the content security policy refuses.
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { type Api, uniqueName } from "../support/api.ts";
import { type OpenIdProvider, client, startOpenIdProvider } from "../support/openid-issuers.ts";
import { startTokenServers } from "../support/token-servers.ts";
import { openWholeBrowser } from "./chromium.ts";

interface Place {
  readonly url: string;
  readonly api: Api;
  readonly openId: OpenIdProvider;
  readonly page: Page;
  /** What the browser has reported, besides the answers that refuse somebody. */
  readonly problems: string[];
}

/** Opens a page for a person whom a real provider knows. */
async function openPlace(): Promise<Place> {
  const place = await startTokenServers({ identityProviderNetworks: ["127.0.0.1/32"] });
  onTestFinished(() => place.close());
  const { url } = place.servers[0];
  const openId = await startOpenIdProvider();
  onTestFinished(() => openId.close());
  openId.person = uniqueName("person");
  const browser = await openWholeBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  // The service has another name here than its clients know.
  await page.route("https://iam.example.com/**", (route) => {
    const { pathname, search } = new URL(route.request().url());
    return route.fulfill({ status: 302, headers: { location: `${url}${pathname}${search}` } });
  });
  return { url, api: place.api, openId, page, problems };
}

/** Creates the provider, which then serves the service. */
async function serve({ api, openId }: Place, parentPath: string, displayName: string): Promise<string> {
  const { issuer } = openId;
  const identityProvider = { name: "login", displayName, issuer, clientId: client.id, clientSecret: client.secret };
  const { id, path } = await api.identityProviders.createIdentityProvider({ parentPath, identityProvider });
  openId.serve(`https://iam.example.com/sign-in/callback/${id}`);
  return path;
}

async function signIn({ page, url }: Place, name: string): Promise<void> {
  await page.goto(`${url}/sign-in?org=acme&return_to=%2Faccount`);
  await page.getByRole("button", { name: `Continue with ${name}` }).click();
  await page.waitForURL((at) => at.origin === url && at.pathname !== "/sign-in");
}

test("a person signs in with a provider in Chromium, after an owner linked the subject on the page", async () => {
  const place = await openPlace();
  const { url, api, openId, page, problems } = place;
  const org = await api.orgs.createOrg({ org: { name: "acme" } });
  const provider = await serve(place, org.path, "Acme login");
  await signIn(place, "Acme login");
  expect(await page.getByRole("alert").textContent()).toContain("no member of this service has this identity");
  const subject = (await page.locator("dd code").last().textContent()) ?? "";
  expect(subject).toBe(openId.person);

  const alice = await api.members.createMember({ parentPath: org.path, member: { name: "alice" } });
  const identity = { name: "login", identityProviderPath: provider, subject };
  await api.identities.createIdentity({ parentPath: alice.path, identity });
  await signIn(place, "Acme login");
  expect(new URL(page.url()).pathname).toBe("/account");
  expect(await page.getByLabel("Signed in as").textContent()).toContain(alice.path);
  // The provider, on another port, has cookies of its own.
  const cookies = (await page.context().cookies(url)).filter(({ name }) => name.startsWith("__Host-"));
  expect(cookies.map(({ name, httpOnly, secure }) => [name, httpOnly, secure])).toEqual([
    ["__Host-tenantry", true, true],
    ["__Host-tenantry-org", true, true],
  ]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Continue with Acme login" }).waitFor();
  // The page of a person who is not linked is refused with 403, which Chromium reports.
  expect(problems.filter((problem) => !problem.includes("403"))).toEqual([]);
});

/** A request of a client, to which nobody answers. */
async function requestOf({ api, url }: Place, parentPath: string, redirectUri: string): Promise<string> {
  const { id } = await api.clients.createClient({
    parentPath,
    client: { name: uniqueName("console"), displayName: "Acme console", redirectUris: [redirectUri] },
  });
  const parameters = { response_type: "code", client_id: id, redirect_uri: redirectUri, state: "s" };
  const challenge = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };
  return `${url}/oauth2/authorize?${new URLSearchParams({ ...parameters, ...challenge }).toString()}`;
}

test("a person who comes from a client and cancels, or is not linked, can sign in again for the client", async () => {
  const place = await openPlace();
  const { url, api, openId, page, problems } = place;
  const org = await api.orgs.createOrg({ org: { name: "acme" } });
  await serve(place, org.path, "Acme login");
  const callback = `${url.replace("localhost", "127.0.0.1")}/callback`;
  const request = await requestOf(place, org.path, callback);
  await page.goto(request);
  await page.getByRole("heading", { name: "For members of the org acme" }).waitFor();
  // As if the person cancelled at the provider.
  const ofService = "https://iam.example.com/**";
  await page.route(
    ofService,
    (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      const answer = { error: "access_denied", state: searchParams.get("state") ?? "", iss: openId.issuer };
      const location = `${url}${pathname}?${new URLSearchParams(answer).toString()}`;
      return route.fulfill({ status: 302, headers: { location } });
    },
    { times: 1 },
  );
  await page.getByRole("button", { name: "Continue with Acme login" }).click();
  await page.getByRole("alert").getByText("cancelled").waitFor();
  await page.getByRole("button", { name: "Continue with Acme login" }).click();
  await page.getByRole("heading", { name: "Not linked yet" }).waitFor();
  await page.getByRole("link", { name: "Sign in with another account" }).click();
  await page.getByRole("heading", { name: "For members of the org acme" }).waitFor();
  const back = new URL(page.url()).searchParams.get("return_to") ?? "";
  expect(request).toContain(back);
  // Chromium reports the pages that refuse somebody.
  expect(problems.filter((problem) => !/40[03]/.test(problem))).toEqual([]);
});

test("a person accepts a member at the first sign-in, declines another one, and chooses among its own later", async () => {
  const place = await openPlace();
  const { url, api, openId, page, problems } = place;
  const provider = await serve(place, "/orgs/system", "Shared login");
  const link = async (name: string): Promise<string> => {
    const org = await api.orgs.createOrg({ org: { name, displayName: `${name} GmbH` } });
    const member = await api.members.createMember({ parentPath: org.path, member: { name: "alice" } });
    const identity = { name: "login", identityProviderPath: provider, subject: openId.person };
    await api.identities.createIdentity({ parentPath: member.path, identity });
    const roleBinding = { name: "viewer", rolePath: "/roles/viewer", subjectPath: member.path };
    await api.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding });
    return member.path;
  };
  const first = await link("acme");
  await signIn(place, "Shared login");
  await page.getByRole("button", { name: "Accept alice in acme GmbH" }).click();
  await page.waitForURL(`${url}/account`);
  expect(await page.getByLabel("Signed in as").textContent()).toContain(first);

  const second = await link("betha");
  await link("gamma");
  await signIn(place, "Shared login");
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await page.getByRole("link", { name: "Sign in with another account" }).click();
  await signIn(place, "Shared login");
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(place, "Shared login");
  await page.getByRole("button", { name: "Decline alice in gamma GmbH" }).click();
  await page.getByText("Declined").waitFor();
  expect(await page.getByRole("button", { name: "gamma" }).isVisible()).toBe(false);
  await page.getByRole("button", { name: "Accept alice in betha GmbH" }).click();
  await page.getByRole("link", { name: "Sign in as another member" }).click();
  await page.getByRole("button", { name: "Sign in as alice in acme GmbH" }).click();
  await page.waitForURL(`${url}/console/**`);
  await page.goto(`${url}/account`);
  const shown = (await page.getByLabel("Signed in as").textContent()) ?? "";
  expect([shown.includes(first), shown.includes(second)]).toEqual([true, true]);
  await page.locator("li", { hasText: second }).getByRole("link", { name: "Keys and sessions" }).click();
  await page.getByRole("tab", { name: "Sessions" }).click();
  await page.getByText("this browser").waitFor();
  expect(problems).toEqual([]);

  await api.roleBindings.deleteRoleBinding({ path: `${first.replace(/\/members\/.*/, "")}/roleBindings/viewer` });
  await page.goto(`${url}/console${first}?tab=sessions`);
  await page.getByText("You need").first().waitFor();
});
