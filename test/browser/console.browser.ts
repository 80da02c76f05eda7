// What people do in the console: each test is a job.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Member_State } from "../../gen/iam/v1alpha/member_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { focusOn } from "./focus-on.ts";
import { pick } from "./pick.ts";
import { shellCommands } from "./shell-commands.ts";

let place: ConsolePlace;
beforeAll(async () => {
  place = await openConsolePlace();
});
afterAll(() => place.close());

const acme = "/orgs/acme";
const wile = `${acme}/members/wile`;

describe("signing in", () => {
  test("leads somebody who is not signed in to the sign-in, which leads back to where it was", async () => {
    const { page } = await place.openWindow();
    await page.goto(`${place.url}/console/orgs/acme/members?q=alice`);
    await page.waitForURL(/\/sign-in\?return_to=/);
    const returnTo = new URL(page.url()).searchParams.get("return_to");
    expect(returnTo).toBe("/console/orgs/acme/members?q=alice");
  });

  test("shows who I am, what can act as me, and signs out", async () => {
    const { page, open, problems } = await place.signIn(wile);
    await open("/me");
    await page.getByRole("heading", { name: "wile" }).waitFor();
    await page.getByText("This browser").waitFor();
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.getByText("(this browser)").waitFor();
    await page.goBack();
    expect(problems).toEqual([]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${place.url}/sign-in`);
    await page.goto(`${place.url}/console/`);
    await page.waitForURL(/\/sign-in\?return_to=/);
  });

  test("says that a sign-out has failed, and stays", async () => {
    const { page, open } = await place.signIn(wile);
    await open("/me");
    const message = "a session could not be ended in its org";
    await page.route("**/console/session", (route) =>
      route.request().method() === "DELETE"
        ? route.fulfill({ status: 503, json: { error: { message } } })
        : route.continue(),
    );
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("alert").getByText(message).waitFor();
    expect(page.url()).toBe(`${place.url}/console/me`);
  });

  test("asks again who is signed in when the browser brings the console back as it was", async () => {
    const { page, open } = await place.signIn(wile);
    await open(acme);
    await page.context().clearCookies();
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await page.waitForURL(/\/sign-in\?return_to=/);
  });

  test("keeps an access token in no storage of the browser", async () => {
    const { page } = await place.signIn(wile);
    const sold = page.waitForResponse((response) => response.url().endsWith("/console/session"));
    await page.goto(`${place.url}/console${acme}`);
    const { access_token: token } = (await (await sold).json()) as { access_token: string };
    await page.getByRole("heading", { name: "Acme Ltd" }).waitFor();
    const stored = await page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML])",
    );
    expect([token.length > 20, stored.includes(token)]).toEqual([true, false]);
  });
});

describe("an organisation", () => {
  test("is found in the list of organisations, and says what is used and what has changed", async () => {
    const { page, open, problems } = await place.signIn(wile);
    await open("/me");
    await page.getByRole("link", { name: "Tenantry" }).click();
    await page.getByRole("main").getByRole("link", { name: "Acme Ltd" }).first().click();
    await page.getByRole("heading", { name: "Acme Ltd" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/orgs/acme");
    await page.getByRole("meter", { name: "Members" }).waitFor();
    await page.getByRole("heading", { name: "Recent changes" }).waitFor();
    expect(await shellCommands(page, "tenantry")).toContain("tenantry get orgs/acme/quota");
    expect(await shellCommands(page, "curl")).toContain(
      `curl -H "Authorization: Bearer $TENANTRY_API_KEY" '${place.url}/iam/v1alpha/orgs/acme/quota'`,
    );
    expect(problems).toEqual([]);
  });

  test("another one is reached by typing a part of its name", async () => {
    await place.api.orgs.createOrg({ org: { name: "bolts", displayName: "Bolts & Nuts" } });
    const { page, open } = await place.signIn("/orgs/system/members/operator");
    await open("/me");
    await page.getByRole("button", { name: /Choose an organisation/ }).click();
    await page.getByRole("combobox", { name: "Search organisations" }).fill("bolt");
    await page.getByRole("option", { name: "Bolts & Nuts" }).click();
    await page.waitForURL(`${place.url}/console/orgs/bolts`);
    await page.getByText("Four steps to begin").waitFor();
  });
});

describe("members", () => {
  test("are found by words, which the URL holds, and suspended after a question", async () => {
    const { page, open, problems } = await place.signIn(wile);
    await open(`${acme}/members`);
    await page.getByRole("searchbox", { name: "Search members" }).fill("danvers");
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    expect(new URL(page.url()).search).toBe("?q=danvers");
    await page.getByRole("button", { name: "Suspend Carol Danvers" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Suspend Carol Danvers" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
    await page.getByRole("cell", { name: "Suspended" }).waitFor();
    await page.getByRole("button", { name: "Activate Carol Danvers" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Activate" }).click();
    await page.getByRole("cell", { name: "Active" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("are opened by a link at once after typing, however long their screen takes to load", async () => {
    const { page, open } = await place.signIn(wile);
    await open(`${acme}/members`);
    await page.route("**/assets/member-screen-*", async (route) => {
      // By then, the words would have been searched for.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await route.continue();
    });
    await page.getByRole("link", { name: "Carol Danvers" }).waitFor();
    // Both at once, and not as fast as this machine is.
    await page.evaluate(`
      const box = document.querySelector("input[type=search]");
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, "carol");
      box.dispatchEvent(new Event("input", { bubbles: true }));
      [...document.querySelectorAll("a")].find((link) => link.textContent === "Carol Danvers").click();
    `);
    await page.getByRole("heading", { level: 1, name: "Carol Danvers" }).waitFor();
    expect(page.url()).toMatch(/\/orgs\/acme\/members\/[^/?]+$/);
  });

  test("are created by pasting many, and the service says at the field which line is wrong", async () => {
    const { page, open } = await place.signIn(wile);
    await open(`${acme}/members`);
    await page.getByRole("button", { name: "New members" }).click();
    const names = page.getByRole("textbox", { name: "Members" });
    await names.fill("frank, Frank Drebin\nGin a");
    await page.getByRole("button", { name: "Create" }).click();
    const error = page.getByText(/^Line 2: name: must be 1 to 64 characters/);
    await error.waitFor();
    expect(await names.getAttribute("aria-invalid")).toBe("true");
    await names.fill("frank, Frank Drebin\ngina");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("link", { name: "Frank Drebin" }).waitFor();
    await page.getByRole("link", { name: "gina" }).waitFor();
  });

  test("show their groups, directly and through others, and where their roles come from", async () => {
    const { page, open } = await place.signIn(wile);
    await open(`${acme}/members/bob`);
    await page.getByText("through on-call → platform").or(page.getByText("through platform")).first().waitFor();
    expect(await page.getByRole("listitem").filter({ hasText: "platform" }).first().textContent()).toContain(
      "directly",
    );
    await page.getByRole("tab", { name: "Roles" }).click();
    await page
      .getByRole("row", { name: /engineering/ })
      .first()
      .waitFor();
    expect(new URL(page.url()).search).toBe("?tab=roles");
  });

  test("get an API key whose secret is shown once", async () => {
    const { page, open } = await place.signIn(wile);
    await open(`${acme}/members/deployer?tab=keys`);
    await page.getByRole("button", { name: "New API key" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("ci");
    await page.getByRole("button", { name: "Create" }).click();
    const secret = await page.getByText(/^tenantry_\w{20,}$/).textContent();
    const me = await fetch(`${place.url}/iam/v1alpha/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect(me.status).toBe(200);
    expect(await shellCommands(page, "tenantry")).toContain("tenantry create orgs/acme/members/deployer/apiKeys/ci");
    expect(await shellCommands(page, "curl")).toContainEqual(expect.stringContaining('{"name":"ci"}'));
    await page.getByRole("button", { name: "I have it" }).click();
    expect(await page.content()).not.toContain(secret);
    // Without a display name, the question before a deletion has its name.
    await place.api.apiKeys.updateApiKey({
      path: `${acme}/members/deployer/apiKeys/ci`,
      apiKey: { displayName: "" },
      updateMask: { paths: ["display_name"] },
    });
    await page.reload();
    await page.getByRole("button", { name: "Delete ci" }).click();
    await page.getByRole("dialog", { name: "Delete ci?" }).getByRole("button", { name: "Delete" }).click();
    await page.getByText("No API keys.").waitFor();
    const after = await fetch(`${place.url}/iam/v1alpha/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect(after.status).toBe(401);
  });
});

test("a button that would be refused says what is missing, and who can help", async () => {
  await place.api.roleBindings.createRoleBinding({
    parentPath: acme,
    roleBinding: { name: "alice-views", rolePath: "/roles/viewer", subjectPath: `${acme}/members/alice` },
  });
  const { page, open } = await place.signIn(`${acme}/members/alice`);
  await open(`${acme}/projects`);
  const button = page.getByRole("button", { name: "New project" });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
  // Playwright does not click what is aria-disabled.
  await button.press("Enter");
  const reason = page.getByRole("dialog", { name: "You may not do this" });
  await reason.getByText("iam.projects.create").waitFor();
  await reason.getByRole("link", { name: "wile" }).waitFor();
});

test("Ctrl-K finds a key of which all was pasted, without sending it", async () => {
  const apiKey = { name: "laptop", displayName: "Laptop of Carol" };
  const { secret = "" } = await place.api.apiKeys.createApiKey({ parentPath: `${acme}/members/carol`, apiKey });
  const { page, open, problems } = await place.signIn(wile);
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
  await open(acme);
  await page.keyboard.press("Control+k");
  await page.getByRole("searchbox", { name: /an API key/ }).fill(secret);
  await page.getByRole("link", { name: "Laptop of Carol" }).click();
  await page.getByRole("tab", { name: "API keys", selected: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/orgs/acme/members/carol");
  expect(sent.filter((text) => text.includes(secret))).toEqual([]);
  expect(problems).toEqual([]);
});

test("Ctrl-K finds what is in the organisation by the start of its name, and its screens", async () => {
  const { page, open, problems } = await place.signIn(wile);
  await open(`${acme}/changes`);
  await page.keyboard.press("Control+k");
  const words = page.getByRole("searchbox", { name: /A name/ });
  await words.fill("rock");
  await page.getByRole("dialog").getByRole("link").first().waitFor();
  await words.fill("acm");
  await page.getByRole("dialog").getByRole("link", { name: "Acme Ltd" }).waitFor();
  await words.fill("Carol D");
  await page.getByRole("link", { name: "Carol Danvers" }).click();
  await page.waitForURL(`${place.url}/console${acme}/members/carol`);
  await page.keyboard.press("Control+k");
  await words.fill("find");
  await page.getByRole("dialog").getByRole("link", { name: "Findings" }).click();
  await page.waitForURL(`${place.url}/console${acme}/findings`);
  expect(problems).toEqual([]);
});

test("who may not read the log gets an overview without it, and leaves no refused call in it", async () => {
  const { path } = await place.api.members.createMember({ parentPath: acme, member: { name: "guest" } });
  await place.api.roles.createRole({ parentPath: acme, role: { name: "looks", permissions: ["iam.orgs.get"] } });
  const roleBinding = { name: "guest-looks", rolePath: `${acme}/roles/looks`, subjectPath: path };
  await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
  const { page, open } = await place.signIn(path);
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url().split("/").at(-1) ?? ""));
  await open(acme);
  await page.getByText("Used, against quota").waitFor();
  await page.waitForLoadState("networkidle");
  expect(await page.getByText("Recent changes").count()).toBe(0);
  expect(sent).toContain("TestPermissions");
  for (const method of ["WatchChanges", "ListChanges", "ListQuotaRequests"]) expect(sent).not.toContain(method);
});

test("what has changed since somebody asked for a change is not changed", async () => {
  const { path } = await place.api.members.createMember({
    parentPath: acme,
    member: { name: "zelda", displayName: "Zelda" },
  });
  const { page, open } = await place.signIn(wile);
  await open(`${acme}/members?q=zelda`);
  await page.getByText("Live").waitFor();
  await page.getByRole("button", { name: "Suspend Zelda" }).click();
  await place.api.members.updateMember({ path, member: { displayName: "Zelda Z" } });
  await page.getByRole("link", { name: "Zelda Z", includeHidden: true }).waitFor();
  await page.getByRole("dialog", { name: "Suspend Zelda?" }).getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("dialog").getByRole("alert").waitFor();
  expect((await place.api.members.getMember({ path })).state).toBe(Member_State.ACTIVE);
});

test("a project is created, and shown to whoever looks at the list meanwhile", async () => {
  const [creator, watcher] = [await place.signIn(wile), await place.signIn(wile)];
  await watcher.open(`${acme}/projects`);
  await watcher.page.getByText("Live").waitFor();
  await creator.open(`${acme}/projects`);
  await creator.page.getByRole("button", { name: "New project" }).click();
  await creator.page.getByRole("textbox", { name: "Name", exact: true }).fill("dynamite");
  await creator.page.getByRole("textbox", { name: "Display name" }).fill("<b>Dynamite</b>");
  await creator.page.getByRole("button", { name: "Create" }).click();
  await watcher.page.getByRole("link", { name: "<b>Dynamite</b>" }).waitFor();
});

describe("access", () => {
  test("says why somebody may do something, why not, and who can change that, at an address to send", async () => {
    const { page, open, problems } = await place.signIn(wile);
    await open(`${acme}/access`);
    await pick(page, "Who", "dave");
    await page.waitForURL(/subject=/);
    await pick(page, "May do what", "repos.access.read");
    await page.waitForURL(/permission=/);
    await pick(page, "On what", "Web shop");
    await page.getByText("Yes", { exact: true }).waitFor();
    const chain = page.locator(".chain").first();
    expect(await chain.getByRole("listitem").count()).toBeGreaterThanOrEqual(4);
    const question = page.url();
    await open(`${acme}/members`);
    await page.goto(question.replace("repos.access.read", "iam.projects.delete"));
    await page.getByText("No", { exact: true }).waitFor();
    await page.getByText("Smallest role that has it").waitFor();
    await page.getByRole("heading", { name: "Everybody who may" }).waitFor();
    await page.getByRole("row", { name: /wile/ }).waitFor();
    expect(problems).toEqual([]);
  });

  test("says which part of a condition is not true", async () => {
    await place.api.roleBindings.createRoleBinding({
      parentPath: `${acme}/projects/rockets`,
      roleBinding: {
        name: "erin-launches",
        rolePath: "/roles/editor",
        subjectPath: `${acme}/members/erin`,
        condition: 'subject.type == "member" && resource.labels.env == "dev"',
      },
    });
    const { page, open } = await place.signIn(wile);
    const question = new URLSearchParams({
      subject: `${acme}/members/erin`,
      permission: "iam.projects.update",
      resource: `${acme}/projects/rockets`,
    });
    await open(`${acme}/access?${question.toString()}`);
    await page.getByText("It would, on a condition that is not true now").waitFor();
    expect(await page.locator(".chain .lines code").allTextContents()).toEqual(['resource.labels.env == "dev"']);
  });

  test("is asked about as of an earlier moment, which the address holds, from the log of changes", async () => {
    const { path: olga } = await place.api.members.createMember({ parentPath: acme, member: { name: "olga" } });
    const parentPath = `${acme}/projects/anvils`;
    const roleBinding = { name: "olga-views", rolePath: "/roles/viewer", subjectPath: olga };
    const { path } = await place.api.roleBindings.createRoleBinding({ parentPath, roleBinding });
    await place.api.roleBindings.deleteRoleBinding({ path });
    const { page, open, problems } = await place.signIn(wile);
    await open(`${acme}/changes?state=CREATED`);
    await page
      .getByRole("row", { name: /olga-views/ })
      .getByRole("link")
      .first()
      .click();
    await page.waitForURL(/revision=/);
    await page.getByRole("link", { name: "Who could do what then?" }).click();
    await pick(page, "Who", "olga");
    await page.waitForURL(/subject=/);
    await pick(page, "May do what", "iam.projects.get");
    await page.waitForURL(/permission=/);
    await pick(page, "On what", "anvils");
    await page.locator(".verdict.yes").getByText("as of").waitFor();
    expect(new URL(page.url()).searchParams.get("asOf")).toMatch(/^[0-9a-f]{8}-/);
    expect(await shellCommands(page, "tenantry")).toContainEqual(
      expect.stringMatching(/^tenantry explain .* --as-of 0000/),
    );
    expect(await shellCommands(page, "curl")).toContainEqual(expect.stringContaining('"as_of_revision":"0000'));
    const [time, revision] = [page.getByLabel("As of a time"), page.getByLabel("Or as of a revision")];
    await revision.fill("then");
    await revision.press("Enter");
    await page.locator(".moment .field-error").waitFor();
    expect(await revision.getAttribute("aria-invalid")).toBe("true");
    expect(await page.locator(".verdict").count()).toBe(0);
    await revision.fill("");
    await time.fill("2999-12-31T12:00");
    await page.getByRole("button", { name: "Ask as of then" }).click();
    await page.getByText("must not be in the future").waitFor();
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.locator(".verdict.no").waitFor();
    expect(new URL(page.url()).searchParams.has("asOf")).toBe(false);
    expect(problems).toEqual([]);
  });

  test("is granted after the screen has shown who gains what, and taken away after who loses what", async () => {
    const { page, open, problems } = await place.signIn(wile);
    await open(`${acme}/projects/anvils/roleBindings`);
    await page.getByRole("button", { name: "Grant a role" }).click();
    await pick(page, "To whom", "finance");
    await pick(page, "Role", "viewer");
    const condition = page.getByRole("textbox", { name: "Condition" });
    await condition.fill("resource.labels.env == ");
    await page.getByRole("button", { name: "Show what changes" }).click();
    await page.getByText(/^at column \d+: /).waitFor();
    await condition.fill("");
    await page.getByRole("button", { name: "Show what changes" }).click();
    await page.getByText("1 member gains permissions.").waitFor();
    const { roleBindings } = await place.api.roleBindings.listRoleBindings({ parentPath: `${acme}/projects/anvils` });
    expect(roleBindings.map(({ name }) => name)).not.toContain("finance-viewer");
    await page.getByRole("button", { name: "Grant", exact: true }).click();
    await page.getByRole("button", { name: "Take away viewer from finance" }).click();
    await page.getByRole("button", { name: "Show what changes" }).click();
    await page.getByText("1 member loses permissions.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Take away" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Take away viewer from finance" }).count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

test("a condition is built from comparisons with the keyboard alone, and read back from its text", async () => {
  const { page, open, problems } = await place.signIn(wile);
  await open(`${acme}/projects/rockets/roleBindings`);
  await page.getByRole("button", { name: "Grant a role" }).click();
  await pick(page, "To whom", "finance");
  await pick(page, "Role", "viewer");
  const text = page.getByRole("textbox", { name: "Condition" });
  const choice = page.getByRole("combobox", { name: "What to compare" });
  await choice.selectOption("Label");
  await focusOn(page, "Add");
  await page.keyboard.press("Enter");
  await focusOn(page, "Label: with what");
  await page.keyboard.press("Control+a");
  await page.keyboard.type('pro"d');
  await choice.selectOption("Address of the caller");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  expect(await text.inputValue()).toBe('resource.labels.env == "pro\\"d" && context.ip.startsWith("192.0.2.")');
  await text.fill('request.time.getHours("Europe/Berlin") < 18 && subject.type == "group"');
  expect(await page.getByRole("combobox", { name: "Hour: with what" }).inputValue()).toBe("18");
  await page.getByRole("button", { name: "Leave out: Hour" }).click();
  expect(await text.inputValue()).toBe('subject.type == "group"');
  await text.fill('subject.type == "group" || resource.labels == 1');
  await page.getByText("The condition is one that can only be shown as text.").waitFor();
  await page.getByRole("button", { name: "Show what changes" }).click();
  await page.getByText(/^at column \d+: /).waitFor();
  expect(await text.getAttribute("aria-invalid")).toBe("true");
  await text.fill("");
  await choice.selectOption("Until a time");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByLabel("Time: with what").fill("2999-12-04T17:00");
  await page.getByRole("button", { name: "Show what changes" }).click();
  await page.getByText("1 member gains permissions.").waitFor();
  await page.getByRole("button", { name: "Grant", exact: true }).click();
  await page.getByRole("button", { name: "Take away viewer from finance" }).waitFor();
  const { roleBindings } = await place.api.roleBindings.listRoleBindings({ parentPath: `${acme}/projects/rockets` });
  const { condition } = required(roleBindings.find(({ name }) => name === "finance-viewer"));
  expect(condition).toMatch(/^request\.time < timestamp\("2999-12-0[345]T\d\d:\d\d:00Z"\)$/);
  expect(problems).toEqual([]);
});

test("groups are a tree, and a group marks whom it has through others", async () => {
  const { page, open, problems } = await place.signIn(wile);
  await open(`${acme}/groups`);
  const table = page.getByRole("table");
  await table.getByRole("row", { name: /Level 3: on-call/ }).waitFor();
  const rows = await table.locator("tbody tr").allTextContents();
  expect(rows.map((row) => row.trim().slice(0, 20))).toEqual(
    expect.arrayContaining([
      expect.stringContaining("engineering"),
      expect.stringMatching(/Level 2: platform/),
      expect.stringMatching(/Level 3: on-call/),
    ]),
  );
  await page.getByRole("link", { name: "engineering" }).click();
  const inherited = page.getByRole("table", { name: "Members through nested groups" });
  await inherited.getByRole("row", { name: /deployer.*on-call/ }).waitFor();
  await page.getByRole("button", { name: "Add a member" }).click();
  await pick(page, "Member", "erin");
  await page.getByRole("button", { name: "Show what changes" }).click();
  await page.getByText("1 member gains permissions.").waitFor();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("table", { name: "Its own members" }).getByRole("link", { name: "erin" }).waitFor();
  expect(problems).toEqual([]);
});

test("changes show what was different, and by whom", async () => {
  await place.api.members.updateMember({
    path: `${acme}/members/dave`,
    member: { displayName: "Dave Bowman" },
    updateMask: { paths: ["display_name"] },
  });
  const { page, open } = await place.signIn(wile);
  await open(`${acme}/changes?q=/orgs/acme/members/dave&state=UPDATED`);
  await page.getByText("What is different").first().click();
  expect([await page.locator("del").first().textContent(), await page.locator("ins").first().textContent()]).toEqual([
    "dave",
    "Dave Bowman",
  ]);
});
