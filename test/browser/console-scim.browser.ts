// An owner connects the directory of a company in the console, which then creates people.
import type { Page } from "playwright-core";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScimSourcesService } from "../../gen/iam/v1alpha/scim_source_pb.ts";
import { failureOf } from "../support/failure.ts";
import { findingsOf } from "./axe-findings.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { pick } from "./pick.ts";
import { shellCommands } from "./shell-commands.ts";

const acme = "/orgs/acme";
const sourcesPath = `${acme}/scimSources`;

let place: ConsolePlace;
/** Of an owner. */
let window: ConsolePage;
beforeAll(async () => {
  place = await openConsolePlace();
  window = await place.signIn(`${acme}/members/wile`, { staysOpen: true });
});
afterAll(() => place.close());

const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
const write = (page: Page, field: string, text: string): Promise<void> =>
  page.getByRole("textbox", { name: field, exact: true }).fill(text);

/** Returns what the browser has reported, without calls that a busy machine could not answer in time. */
const unexpectedOf = (problems: readonly string[]): readonly string[] =>
  problems.filter((problem) => !problem.includes("a status of 504"));

/** Creates something as a directory does. */
async function provision(key: string, path: string, body: object): Promise<{ readonly id: string }> {
  const response = await fetch(`${place.url}/scim/v2${acme}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/scim+json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as { readonly id: string };
}

test("an owner creates a source and its key, and sees whom the directory has created", async () => {
  const { page, open, problems } = window;
  await open(sourcesPath);
  await page.getByText("No directory manages members here.").waitFor();
  await press(page, "New SCIM source");
  await write(page, "Name", "okta");
  await write(page, "Display name", "Okta of Acme");
  await press(page, "Create");

  // What is next is its key, which the form for it asks for at once.
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByRole("button", { name: "Create" }).click();
  const note = page.getByRole("region", { name: "The key of the directory" });
  await note.getByText(`${place.url}/scim/v2${acme}`).waitFor();
  const key = (await note.locator(".secret-line code").textContent()) ?? "";
  expect([await findingsOf(page), await shellCommands(page, "tenantry")]).toEqual([
    [],
    expect.arrayContaining([expect.stringMatching(/^tenantry create orgs\/acme\/members\/okta\/apiKeys\/scim /)]),
  ]);
  await press(page, "I have it");
  await page.getByRole("heading", { name: "Until the directory manages people" }).waitFor();
  await expect.poll(() => page.getByRole("listitem").filter({ hasText: "Done" }).count()).toBe(3);

  const judy = await provision(key, "/Users", { userName: "judy@acme.example", displayName: "Judy Hopps" });
  await provision(key, "/Groups", { displayName: "Police", members: [{ value: judy.id }] });
  await open(`${sourcesPath}/okta`);
  await page.getByRole("link", { name: "1 group" }).waitFor();
  await page.getByRole("link", { name: "1 member" }).click();
  await page.getByRole("link", { name: "Judy Hopps" }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  await page.getByRole("link", { name: "Show all" }).click();
  await page.getByRole("link", { name: "wile", exact: true }).waitFor();
  expect(unexpectedOf(problems)).toEqual([]);
});

test("whoever runs the directory gets the instructions without the key", async () => {
  const { page, open } = window;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: place.url });
  const scimSource = { name: "entra", displayName: "Entra" };
  await createClient(ScimSourcesService, place.api.transport).createScimSource({ parentPath: acme, scimSource });
  await open(`${sourcesPath}/entra`);
  await page.getByText("Choose one under Change.").waitFor();
  await press(page, "Copy for Microsoft Entra ID");
  await page.getByText("Copied").waitFor();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(copied.split("\n")).toEqual(
    expect.arrayContaining([
      expect.stringContaining(`${place.url}/scim/v2${acme}?aadOptscim062020`),
      `${place.url}/docs/scim`,
    ]),
  );
  expect((await fetch(`${place.url}/docs/scim`)).status).toBe(200);
});

test("an application with keys is refused at its field, and nothing stays of a source that is refused", async () => {
  const { page, open, problems } = window;
  const deployer = `${acme}/members/deployer`;
  await place.api.apiKeys.createApiKey({ parentPath: deployer, apiKey: { name: "deploys" } });
  await open(sourcesPath);
  await press(page, "New SCIM source");
  await write(page, "Name", "ping");
  await page.getByLabel("Acts as").selectOption("known");
  await press(page, "Create");
  await page.getByText("choose an application").waitFor();
  await pick(page, "Application", "deployer");
  await press(page, "Create");
  await page.getByText("must be an application without API keys").waitFor();
  // Another source has its name.
  await page.getByLabel("Acts as").selectOption("new");
  await write(page, "Name", "okta");
  await press(page, "Create");
  await page.getByText('there is already a SCIM source named "okta" here').waitFor();
  // The role of its application would be granted by a name that is taken.
  const roleBinding = { name: "ping-provisioner", rolePath: "/roles/viewer", subjectPath: deployer };
  await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
  await write(page, "Name", "ping");
  await press(page, "Create");
  await page.getByText('there is already a role binding named "ping-provisioner" here').waitFor();
  const member = await failureOf(place.api.members.getMember({ path: `${acme}/members/ping` }));
  expect([member.reason, unexpectedOf(problems)]).toEqual(["RESOURCE_NOT_FOUND", []]);
});

test("a source gets a provider, and when it is deleted its members stay", async () => {
  const identityProvider = { name: "login", issuer: "https://login.acme.example", clientId: "tenantry" };
  await place.api.identityProviders.createIdentityProvider({ parentPath: acme, identityProvider });
  const { page, open, problems } = window;
  await open(`${sourcesPath}/okta`);
  await press(page, "Change");
  await page.getByLabel("People sign in with").selectOption("login");
  await page.getByLabel("Who somebody is there").selectOption("userName");
  await press(page, "Save");
  await page.getByRole("link", { name: "login" }).waitFor();
  await press(page, "Delete");
  const dialog = page.getByRole("dialog", { name: "Delete Okta of Acme?" });
  await dialog.getByText("nobody manages them any more").waitFor();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("link", { name: "Entra" }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "Okta of Acme" }).count()).toBe(0);
  expect((await place.api.members.getMember({ path: `${acme}/members/judy` })).displayName).toBe("Judy Hopps");
  expect(unexpectedOf(problems)).toEqual([]);
});
