// An owner lets the people of its identity provider in by a rule, and one of them comes.
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

test("a rule is written in the form of a provider, refused where it is wrong, and lets somebody in", async () => {
  const { path: org } = await place.api.orgs.createOrg({ org: { name: "door", displayName: "Door" } });
  await place.api.groups.createGroup({ parentPath: org, group: { name: "staff", displayName: "The staff" } });
  const { page, problems } = await place.openWindow();
  await page.goto(`${place.url}/sign-in#${await place.codeFor("/orgs/system/members/operator")}`);
  await press(page, "Sign in");
  await page.goto(`${place.url}/console/orgs/door/identityProviders`);
  await press(page, "New identity provider");
  await write(page, "Name", "login");
  await write(page, "Issuer", openId.issuer);
  await write(page, "Client ID", client.id);
  await page.getByLabel("Client secret").fill(client.secret);
  await page.getByLabel("Who is not linked").selectOption("CREATE");
  await write(page, "Whom the rule lets in", '"staff" in claims.group ==');
  await page.getByRole("combobox", { name: "Groups that they join" }).fill("staff");
  await page.getByRole("option", { name: /The staff/ }).click();
  await page.getByRole("list", { name: "Groups that they join" }).getByText("The staff").waitFor();
  await press(page, "Create");
  await page
    .getByText(/at column \d+/)
    .first()
    .waitFor();
  await write(page, "Whom the rule lets in", '"staff" in claims.groups');
  await press(page, "Create");
  await page.getByText("those whom the rule lets in").waitFor();
  const { identityProviders } = await place.api.identityProviders.listIdentityProviders({ parentPath: org });
  expect(identityProviders[0]?.firstSignInGroupPaths).toEqual([`${org}/groups/staff`]);

  const guest = await place.openWindow();
  openId.person = "person-1";
  openId.claims = { preferred_username: "zoe", name: "Zoë", groups: [] };
  // What the service is called by those whom it sends elsewhere.
  const configuration = await fetch(`${place.url}/.well-known/openid-configuration`);
  const { issuer } = (await configuration.json()) as { issuer: string };
  openId.serve(`${issuer}/sign-in/callback/${required(identityProviders[0]).id}`);
  await guest.page.goto(`${issuer}/sign-in?org=door`);
  await press(guest.page, "Continue with login");
  await guest.page.getByRole("heading", { name: "Not a member yet" }).waitFor();
  openId.claims = { ...openId.claims, groups: ["staff"] };
  await guest.page.goto(`${issuer}/sign-in?org=door`);
  await press(guest.page, "Continue with login");
  await guest.page.waitForURL(/\/console\//);
  const { members } = await place.api.groupMembers.listGroupMembers({ parentPath: `${org}/groups/staff` });
  expect(members.map(({ memberPath }) => memberPath)).toEqual([`${org}/members/zoe`]);
  expect([problems, guest.problems]).toEqual([[], []]);
});
