// Somebody who has read nothing brings a company in: an org with its identity provider, a person who accepts an invitation, and one who is locked out.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { type OpenIdProvider, client, startOpenIdProvider } from "../support/openid-issuers.ts";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";

let place: ConsolePlace;
let openId: OpenIdProvider;
beforeAll(async () => {
  place = await openConsolePlace({ identityProviderNetworks: ["127.0.0.1/32"] }, true);
  openId = await startOpenIdProvider();
});
afterAll(async () => {
  await openId.close();
  await place.close();
});

const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
const write = (page: Page, field: string, text: string): Promise<void> =>
  page.getByRole("textbox", { name: field, exact: true }).fill(text);
const follow = (page: Page, name: string): Promise<void> =>
  page.getByRole("navigation").getByRole("link", { name, exact: true }).first().click();

test("a newcomer makes an org with its provider, invites somebody who accepts, and locks them out", async () => {
  const { page, problems } = await place.openWindow();
  await page.goto(`${place.url}/sign-in#${await place.codeFor("/orgs/system/members/operator")}`);
  await press(page, "Sign in");
  await page.getByText("Begin with an organisation").waitFor();
  await press(page, "New organisation");
  await write(page, "Name", "acme");
  await write(page, "Display name", "Acme & Söhne");
  await press(page, "Create");
  await page.getByRole("heading", { name: "Acme & Söhne" }).waitFor();

  await follow(page, "Identity providers");
  await press(page, "New identity provider");
  await write(page, "Name", "login");
  await write(page, "Issuer", openId.issuer);
  await write(page, "Client ID", client.id);
  await page.getByLabel("Client secret").fill(client.secret);
  await press(page, "Create");
  const { identityProviders } = await expectOne(() =>
    place.api.identityProviders.listIdentityProviders({ parentPath: "/orgs/acme" }),
  );

  await follow(page, "Members");
  await press(page, "Invite");
  await write(page, "Address", "Bob.Builder@example.com");
  await press(page, "Invite");
  const shown = page.getByRole("status", { name: "Pass the link on" });
  await shown.waitFor();
  const link = (await shown.locator("code").textContent()) ?? "";
  await page.getByRole("row", { name: /bob-builder.*Invited until/ }).waitFor();
  await press(page, "I have passed it on");
  // The service is called so in links.
  const { origin } = new URL(link);
  openId.serve(`${origin}/sign-in/callback/${required(identityProviders[0]).id}`);

  const roleBinding = { name: "b", rolePath: "/roles/viewer", subjectPath: "/orgs/acme/members/bob-builder" };
  await place.api.roleBindings.createRoleBinding({ parentPath: "/orgs/acme", roleBinding });

  const guest = await place.openWindow();
  await guest.page.goto(link);
  await press(guest.page, "Show the invitation");
  await guest.page.getByRole("heading", { name: "You are invited to Acme & Söhne" }).waitFor();

  // The link of another invitation leads to that one, in a tab of its own and in one that shows an invitation; no code stays in the address bar.
  await place.api.orgs.createOrg({ org: { name: "other", displayName: "Other" } });
  const member = { name: "bob", email: "bob.builder@example.com" };
  const other = await place.api.members.inviteMember({ parentPath: "/orgs/other", member });
  const tab = await guest.page.context().newPage();
  await tab.goto(other.link);
  await tab.getByRole("heading", { name: "You are invited to Other" }).waitFor();
  await tab.close();
  await guest.page.goto(link);
  await guest.page.getByRole("heading", { name: "You are invited to Acme & Söhne" }).waitFor();
  expect(guest.page.url()).toBe(`${origin}/sign-in/invitation`);

  openId.person = "carol";
  openId.claims = { email: "carol@example.com", email_verified: true };
  await press(guest.page, "Continue with login of acme");
  await guest.page.getByRole("alert").getByText("carol@example.com").waitFor();
  openId.person = "bob";
  openId.claims = { email: "bob.builder@example.com", email_verified: true };
  await press(guest.page, "Continue with login of acme");
  await guest.page.getByText("You are signed in as bob.builder@example.com").waitFor();
  await press(guest.page, "Accept");
  await guest.page.waitForURL(`${origin}/console/`);
  await guest.page.getByRole("link", { name: "Acme & Söhne" }).first().waitFor();

  const row = page.getByRole("row", { name: /bob-builder/ });
  await row.getByText("Active").waitFor();
  await row.getByRole("button", { name: /^Suspend/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await row.getByText("Suspended").waitFor();
  await guest.page.goto(`${origin}/console/orgs/acme/members`);
  await guest.page.waitForURL(/\/sign-in/);
  expect([problems, guest.problems]).toEqual([[], []]);
});

/** Waits until a list has one. */
async function expectOne<Found>(list: () => Promise<Found>): Promise<Found> {
  let found: Found | undefined;
  await expect
    .poll(async () =>
      JSON.stringify((found = await list()), (_key, value: unknown) => (typeof value === "bigint" ? 0 : value)),
    )
    .toContain('"id"');
  return required(found);
}
