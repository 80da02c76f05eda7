// What people do in the console with roles, and with what signs in: programs, OAuth clients, identity providers. Each test is a job.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { findingsOf } from "./axe-findings.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { focusOn } from "./focus-on.ts";
import { shellCommands } from "./shell-commands.ts";

const acme = "/orgs/acme";
const wile = `${acme}/members/wile`;

let place: ConsolePlace;
/** Of somebody who may do all that is here. */
let window: ConsolePage;
beforeAll(async () => {
  place = await openConsolePlace();
  window = await place.signIn(wile, { staysOpen: true });
});
afterAll(() => place.close());

describe("roles", () => {
  test("start with the permissions of another role, and have them by their names", async () => {
    const { page, open, problems } = window;
    await open(`${acme}/roles`);
    await page.getByRole("button", { name: "New role" }).click();
    const dialog = page.getByRole("dialog", { name: "New role" });
    const start = dialog.getByRole("combobox", { name: "Start with" });
    await start.selectOption("Viewer");
    await dialog.getByText(/^\d+ chosen$/).waitFor();
    await dialog.getByRole("searchbox", { name: "Search permissions" }).fill("iam.projects.get");
    await dialog.getByRole("checkbox", { name: "iam.projects.get", exact: true }).uncheck();
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("watcher");
    expect(await findingsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.waitFor({ state: "detached" });
    const { permissions: all } = await place.api.roles.getRole({ path: "/roles/viewer" });
    const { permissions } = await place.api.roles.getRole({ path: `${acme}/roles/watcher` });
    const own = all.filter((name) => !name.includes("*") && name !== "iam.projects.get");
    expect(permissions).toEqual(expect.arrayContaining(own));
    expect(permissions.filter((name) => name.includes("*") || name === "iam.projects.get")).toEqual([]);
    await place.api.roles.deleteRole({ path: `${acme}/roles/watcher` });
    expect(problems).toEqual([]);
  });

  test("are created from permissions that patterns and words find, also of services that are not known", async () => {
    const { page, open, problems } = window;
    await open(`${acme}/roles`);
    await page.getByRole("button", { name: "New role" }).click();
    const dialog = page.getByRole("dialog", { name: "New role" });
    const search = dialog.getByRole("searchbox", { name: "Search permissions" });
    await search.fill("iam.projects.*");
    await dialog.getByRole("checkbox", { name: "iam.projects.get", exact: true }).waitFor();
    await search.fill("iam.projects.*e");
    await dialog.getByRole("checkbox", { name: /^All \d+ that are found$/ }).check();
    await dialog.getByRole("checkbox", { name: "iam.projects.delete" }).uncheck();
    await search.fill("members get");
    await dialog.getByRole("checkbox", { name: "iam.members.get", exact: true }).check();
    await search.fill("iam.projects.fly");
    await search.press("Enter");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("planner");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText(/there is no iam\.projects\.fly; the nearest is/).waitFor();
    await dialog.getByRole("checkbox", { name: "iam.projects.fly" }).uncheck();
    await search.fill("compute.instances.start");
    await dialog.getByRole("button", { name: "Add compute.instances.start" }).click();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("link", { name: "planner" }).click();
    await page.waitForURL(`${place.url}/console${acme}/roles/planner`);
    await page.getByText("Nobody is granted this role.").waitFor();
    const { permissions } = await place.api.roles.getRole({ path: `${acme}/roles/planner` });
    expect(permissions.toSorted()).toEqual([
      "compute.instances.start",
      "iam.members.get",
      "iam.projects.activate",
      "iam.projects.create",
      "iam.projects.purge",
      "iam.projects.undelete",
      "iam.projects.update",
    ]);
    expect(problems).toEqual([]);
  });

  test("are changed and deleted after the screen has shown who gains and who loses what", async () => {
    const path = `${acme}/roles/watcher`;
    const role = { name: "watcher", permissions: ["iam.projects.get", "iam.projects.list"] };
    await place.api.roles.createRole({ parentPath: acme, role });
    const roleBinding = { name: "dave-watches", rolePath: path, subjectPath: `${acme}/members/dave` };
    await place.api.roleBindings.createRoleBinding({ parentPath: `${acme}/projects/anvils`, roleBinding });
    const { page, open, problems } = window;
    await open(path);
    await page.getByRole("row", { name: /dave anvils/ }).waitFor();
    await page.getByRole("button", { name: "Change" }).click();
    const dialog = page.getByRole("dialog", { name: "Change the role" });
    await dialog.getByRole("checkbox", { name: "Only the chosen" }).check();
    await dialog.getByRole("checkbox", { name: "iam.projects.list" }).uncheck();
    await dialog.getByRole("button", { name: "Show what changes" }).click();
    await dialog.getByText("1 member loses permissions.").waitFor();
    expect((await place.api.roles.getRole({ path })).permissions).toEqual(role.permissions);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await place.api.roles.getRole({ path })).permissions).toEqual(["iam.projects.get"]);
    await page.getByRole("button", { name: "Change" }).click();
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("onlooker");
    await dialog.getByRole("button", { name: "Show what changes" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.waitForURL(`${place.url}/console${acme}/roles/onlooker`);
    await page.getByRole("row", { name: /dave anvils/ }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Show what changes" }).click();
    await page.getByText("1 member loses permissions.").waitFor();
    await page.getByRole("dialog", { name: "Delete watcher?" }).getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(`${place.url}/console${acme}/roles`);
    await expect(place.api.roles.getRole({ path })).rejects.toThrow("there is no role");
    expect(problems).toEqual([]);
  });
});

test("members are ordered by the service, upwards, downwards and as they were, which the URL holds", async () => {
  const { page, open, problems } = window;
  await open(`${acme}/members`);
  const first = page.getByRole("table", { name: "Members" }).locator('[aria-rowindex="2"] td:not(.choice)').first();
  const name = page.getByRole("columnheader", { name: "Name", exact: true });
  await first.waitFor();
  const before = await first.textContent();
  await focusOn(page, "Name ↕");
  await page.keyboard.press("Enter");
  await expect.poll(() => first.textContent()).toBe("Carol Danvers");
  expect(await name.getAttribute("aria-sort")).toBe("ascending");
  await page.keyboard.press("Enter");
  await expect.poll(() => first.textContent()).toBe("wile");
  expect(new URL(page.url()).searchParams.get("order")).toBe("display_name desc");
  await page.keyboard.press("Enter");
  await expect.poll(() => first.textContent()).toBe(before);
  expect(new URL(page.url()).search).toBe("");
  expect(problems).toEqual([]);
});

describe("programs", () => {
  test("get a service account, and then a key that is shown once and works", async () => {
    const { page, open, problems } = window;
    await open(acme);
    await page.getByRole("link", { name: "Service accounts" }).click();
    // The screen before has links to members, too, until it is replaced.
    const side = page.getByRole("navigation", { name: "Organisation" });
    const members = side.getByRole("link", { name: "Members", exact: true });
    await side.locator('[aria-current="page"]', { hasText: "Service accounts" }).waitFor();
    expect(await members.getAttribute("aria-current")).toBeNull();
    await page.getByRole("button", { name: "New service account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("indexer");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.waitForURL(`${place.url}/console${acme}/members/indexer?tab=keys`);
    await page.getByRole("button", { name: "New API key" }).click();
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("pipeline");
    await dialog.getByRole("button", { name: "Create" }).click();
    const secret = required(await page.getByText(/^tenantry_[0-9A-Za-z]{20,}/).textContent());
    const me = await fetch(`${place.url}/iam/v1alpha/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect(await me.json()).toMatchObject({ member: { path: `${acme}/members/indexer` } });
    await open(`${acme}/members?type=APPLICATION&q=indexer`);
    await page.getByRole("row", { name: /indexer .* Application/ }).waitFor();
    await page.getByRole("searchbox", { name: "Search service accounts" }).fill("alice");
    await page.getByText("No service account is like that.").waitFor();
    await members.click();
    await page.getByRole("row", { name: /Carol Danvers .* Person/ }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe("OAuth clients", () => {
  test("are created with the keyboard alone, their secret shown once and replaced, and deleted", async () => {
    const { page, open, problems } = window;
    await open(`${acme}/clients`);
    await page.getByText("There are no OAuth clients yet.").waitFor();
    await focusOn(page, "New client");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await focusOn(page, "Name");
    await page.keyboard.type("shop");
    await focusOn(page, "Redirect URIs");
    await page.keyboard.type("http://shop.example.com/callback");
    await focusOn(page, "Create");
    await page.keyboard.press("Enter");
    const uris = page.getByRole("textbox", { name: "Redirect URIs" });
    await page.locator('[aria-invalid="true"]').waitFor();
    expect(await uris.getAttribute("aria-invalid")).toBe("true");
    await uris.fill("https://shop.example.com/callback\nhttp://127.0.0.1/callback");
    await focusOn(page, "Create");
    await page.keyboard.press("Enter");
    const note = page.getByRole("region", { name: "The secret of the client" });
    const secret = required(await note.locator("code").first().textContent());
    const { id, redirectUris } = await place.api.clients.getClient({ path: `${acme}/clients/shop` });
    expect(redirectUris).toEqual(["https://shop.example.com/callback", "http://127.0.0.1/callback"]);
    expect(await isAccepted(id, secret)).toBe(true);
    await note.getByText(id).waitFor();
    for (const program of ["tenantry", "curl"] as const) {
      expect(await shellCommands(page, program)).not.toContainEqual(expect.stringContaining(secret));
    }
    await note.getByRole("button", { name: "I have it" }).click();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole("link", { name: "shop" }).click();
    await page.getByRole("button", { name: "Replace the secret" }).click();
    await page.getByRole("combobox", { name: "The secret before ends" }).selectOption("At once");
    await page.getByRole("dialog").getByRole("button", { name: "Replace the secret" }).click();
    const next = required(await note.locator("code").first().textContent());
    expect([await isAccepted(id, secret), await isAccepted(id, next)]).toEqual([false, true]);
    await page.getByRole("button", { name: "Change" }).click();
    await page.getByRole("textbox", { name: "Only for" }).fill("iam.members.*, iam.groups.get");
    await page.getByRole("textbox", { name: "Display name" }).fill("<b>Shop</b>");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "<b>Shop</b>" }).waitFor();
    const changed = await place.api.clients.getClient({ path: `${acme}/clients/shop` });
    expect(changed).toMatchObject({ scopes: ["iam.members.*", "iam.groups.get"], redirectUris });
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(`${place.url}/console${acme}/clients`);
    await page.getByText("There are no OAuth clients yet.").waitFor();
    expect(problems).toEqual([]);
  });

  test("are read by somebody who may not change them, who is told why not and who can help", async () => {
    const { path } = await place.api.clients.createClient({
      parentPath: acme,
      client: { name: "phone", redirectUris: ["com.example.app:/callback"] },
    });
    const roleBinding = { name: "erin-reads", rolePath: "/roles/viewer", subjectPath: `${acme}/members/erin` };
    await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
    const { page, open } = await place.signIn(`${acme}/members/erin`);
    await open(path);
    await page.getByText("Public: an app or a page").waitFor();
    expect(await page.getByRole("button", { name: "Replace the secret" }).count()).toBe(0);
    const change = page.getByRole("button", { name: "Change" });
    await expect.poll(() => change.getAttribute("aria-disabled")).toBe("true");
    await change.press("Enter");
    await page.getByText("iam.clients.update", { exact: true }).waitFor();
  });
});

describe("identity providers", () => {
  test("are created, changed without their secret, and linked to the account of a member", async () => {
    const { page, open, problems } = window;
    await open(`${acme}/identityProviders`);
    await page.getByText("This organisation has no identity provider of its own.").waitFor();
    await page.getByRole("button", { name: "New identity provider" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("okta");
    await dialog.getByRole("textbox", { name: "Client ID" }).fill("tenantry");
    await dialog.getByLabel("Client secret").fill("s3cret-of-the-client");
    await dialog.getByRole("textbox", { name: "Issuer" }).fill("login.example.com");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByRole("textbox", { name: "Issuer" }).fill("https://login.example.com/realms/acme");
    await dialog.getByRole("button", { name: "Create" }).click();
    const path = `${acme}/identityProviders/okta`;
    await page.waitForURL(`${place.url}/console${path}`);
    const { id } = await place.api.identityProviders.getIdentityProvider({ path });
    await page.getByText(`${place.url}/sign-in/callback/${id}`).waitFor();
    for (const program of ["tenantry", "curl"] as const) {
      expect(await shellCommands(page, program)).toContainEqual(expect.stringContaining("identityProviders/okta"));
      expect(await page.locator("body").textContent()).not.toContain("s3cret");
    }
    await page.getByRole("button", { name: "Change" }).click();
    await dialog.getByRole("textbox", { name: "Scopes" }).fill("profile email");
    await dialog.getByRole("combobox", { name: "How the secret is sent" }).selectOption("In the body");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("profile email").waitFor();
    expect((await place.api.identityProviders.getIdentityProvider({ path })).scopes).toEqual(["profile", "email"]);
    await open(`${acme}/members/dave?tab=identities`);
    await page.getByRole("button", { name: "Link an account" }).click();
    await dialog.getByRole("combobox", { name: "Identity provider" }).selectOption("okta");
    await dialog.getByRole("textbox", { name: "Subject" }).fill("248289761001");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("work");
    await dialog.getByRole("button", { name: "Link an account" }).click();
    await page.getByRole("row", { name: /work .*248289761001 Active/ }).waitFor();
    await open(path);
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(`${place.url}/console${acme}/identityProviders`);
    const { identities } = await place.api.identities.listIdentities({ parentPath: `${acme}/members/dave` });
    expect(identities).toEqual([]);
    expect(problems).toEqual([]);
  });
});

/** Whether a client is let in with a secret: without it, the service says nothing else about the request. */
async function isAccepted(id: string, secret: string): Promise<boolean> {
  const response = await fetch(`${place.url}/oauth2/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: "authorization_code", code: "none", code_verifier: "v".repeat(43) }),
  });
  const { error } = (await response.json()) as { readonly error: string };
  return error !== "invalid_client";
}

test("what was found leads to where it is, and is gone when its grant is taken away", async () => {
  const { page, open, problems } = window;
  const dave = `${acme}/members/dave`;
  await place.api.apiKeys.createApiKey({ parentPath: dave, apiKey: { name: "endless" } });
  const twice = { rolePath: "/roles/viewer", subjectPath: dave };
  for (const name of ["dave-views", "dave-views-again"]) {
    await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding: { name, ...twice } });
  }
  await open(acme);
  await page.getByRole("link", { name: "Findings" }).click();
  await page.getByRole("searchbox", { name: "Search paths" }).fill("dave");
  await expect.poll(() => page.getByRole("row").count()).toBe(3);
  await page.getByRole("row", { name: /^API key without an end members\/dave\/apiKeys\/endless/ }).waitFor();
  await page.getByRole("link", { name: "members/dave/apiKeys/endless" }).click();
  await page.getByRole("tab", { name: "API keys", selected: true }).waitFor();
  await page.getByText("endless").first().waitFor();
  await page.goBack();
  await page.getByRole("combobox", { name: "Kind" }).selectOption({ label: "Grant within another one" });
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await page.getByRole("link", { name: "roleBindings/dave-views-again" }).click();
  await page.waitForURL(`${place.url}/console${acme}/roleBindings?q=dave-views-again`);
  await expect.poll(() => page.getByRole("row", { name: /dave/ }).count()).toBe(1);
  await place.api.roleBindings.deleteRoleBinding({ path: `${acme}/roleBindings/dave-views-again` });
  await page.goBack();
  await page.getByText("Nothing was found with these words, of this kind.").waitFor();
  expect(problems).toEqual([]);
});

test("access is asked for where something is refused, granted by somebody who can, and ended", async () => {
  const { path } = await place.api.members.createMember({ parentPath: acme, member: { name: "newbie" } });
  const newbie = await place.signIn(path);
  const { page } = newbie;
  await newbie.open(`${acme}/accessRequests`);
  await page.getByText("Nobody has asked for access").waitFor();
  // As the way from what is refused leads here.
  const preset = `create=true&role=/roles/viewer&resource=${acme}/projects/web-shop`;
  await page.goto(`${place.url}/console${acme}/accessRequests?${preset}`);
  const dialog = page.getByRole("dialog", { name: "Ask for access" });
  await dialog.getByRole("textbox", { name: "Why" }).fill("Ticket 4711");
  await dialog.getByRole("group").getByRole("button").first().click();
  await dialog.getByRole("button", { name: "Ask for access" }).click();
  await dialog.waitFor({ state: "detached" });
  const row = page.getByRole("row", { name: /Ticket 4711/ });
  await row.getByText("Waiting").waitFor();

  const { page: ofOwner, open, problems } = window;
  await open(acme);
  await ofOwner
    .getByRole("listitem")
    .filter({ hasText: "Ticket 4711" })
    .getByRole("button", { name: /^Approve/ })
    .click();
  const decision = ofOwner.getByRole("dialog", { name: "Approve" });
  await decision.getByRole("textbox", { name: "What to tell the member" }).fill("For today");
  await decision.getByRole("button", { name: "Approve" }).click();
  await decision.waitFor({ state: "detached" });

  await newbie.open(`${acme}/accessRequests`);
  await row.getByText("For today").waitFor();
  await row.getByRole("button", { name: /^End access/ }).click();
  const ending = page.getByRole("dialog", { name: "End access" });
  await ending.getByRole("button", { name: "End access" }).click();
  await row.getByText("Ended", { exact: true }).waitFor();
  expect(problems).toEqual([]);
});

test("two people approve what one asks for, and what began without a decision comes first and is ended", async () => {
  const { api, signIn } = place;
  const org = await api.orgs.createOrg({ org: { name: "four-eyes" } });
  const parentPath = org.path;
  const emergency = { name: "emergency", permissions: ["iam.accessRequests.breakGlass"] };
  const { path: rolePath } = await api.roles.createRole({ parentPath, role: emergency });
  const memberWith = async (name: string, role: string): Promise<string> => {
    const { path } = await api.members.createMember({ parentPath, member: { name } });
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding: { name, rolePath: role, subjectPath: path } });
    return path;
  };
  const paths = [
    await memberWith("erin", rolePath),
    await memberWith("olaf", "/roles/owner"),
    await memberWith("olga", "/roles/owner"),
  ];
  const [erin, olaf, olga] = await Promise.all(paths.map((path) => signIn(path)));
  if (erin === undefined || olaf === undefined || olga === undefined) throw new Error("nobody has signed in");
  const screen = `${parentPath}/accessRequests`;
  const ask = async (why: string, begins: boolean) => {
    await erin.open(screen);
    await erin.page.goto(`${place.url}/console${screen}?create=true&role=/roles/viewer&resource=${parentPath}`);
    const dialog = erin.page.getByRole("dialog", { name: "Ask for access" });
    await dialog.getByRole("textbox", { name: "Why" }).fill(why);
    await dialog.getByRole("group").getByRole("button").first().click();
    if (begins) await dialog.getByRole("checkbox", { name: "Begin at once" }).check();
    await dialog.getByRole("button", { name: "Ask for access" }).click();
    await dialog.waitFor({ state: "detached" });
  };
  const approve = async ({ page, open }: typeof erin, before: string) => {
    await open(screen);
    const row = page.getByRole("row", { name: /Ticket 4712/ });
    await row.getByText(before).waitFor();
    await row.getByRole("button", { name: /^Approve/ }).click();
    const dialog = page.getByRole("dialog", { name: "Approve" });
    await dialog.getByText("once two people have approved").waitFor();
    await dialog.getByRole("button", { name: "Approve" }).click();
    await dialog.waitFor({ state: "detached" });
    return row;
  };
  await olaf.open(parentPath);
  await olaf.page.getByText("One person approves a request for access.").waitFor();
  await olaf.page.getByRole("button", { name: "Require two approvals" }).click();
  await olaf.page.getByRole("dialog").getByRole("button", { name: "Require two approvals" }).click();
  await olaf.page.getByText("Two people approve a request for access before it counts.").waitFor();
  await ask("Ticket 4712", false);
  const ofOlaf = await approve(olaf, "0 of 2 approvals");
  await ofOlaf.getByText("1 of 2 approvals").waitFor();
  await expect.poll(() => ofOlaf.getByRole("button", { name: /^Approve/ }).count()).toBe(0);
  const ofOlga = await approve(olga, "1 of 2 approvals");
  await ofOlga.getByText("Approved", { exact: true }).waitFor();

  await ask("All is down", true);
  await olaf.open(screen);
  const begun = olaf.page.getByRole("table", { name: "Begun without a decision" });
  const row = begun.getByRole("row", { name: /All is down/ });
  await row.getByRole("button", { name: /^End access/ }).click();
  const ending = olaf.page.getByRole("dialog", { name: "End access" });
  await ending.getByRole("button", { name: "End access" }).click();
  await begun.waitFor({ state: "detached" });
  expect([...erin.problems, ...olaf.problems, ...olga.problems]).toEqual([]);
});
