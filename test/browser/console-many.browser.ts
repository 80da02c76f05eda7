// What people do in the console to several rows of a table at once, to one of them, and to what is nested. Each test is a job.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { AccessRequestsService } from "../../gen/iam/v1alpha/access_request_pb.ts";
import { MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { Member_State } from "../../gen/iam/v1alpha/member_pb.ts";
import { required } from "../../src/errors/required.ts";
import { createApi } from "../support/api.ts";
import { findingsOf } from "./axe-findings.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { focusOn } from "./focus-on.ts";
import { pick } from "./pick.ts";
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

const createMembers = (...names: readonly string[]) =>
  place.api.members.batchCreateMembers({
    parentPath: acme,
    requests: names.map((name) => ({ parentPath: acme, member: { name } })),
  });

const stateOf = async (name: string) => (await place.api.members.getMember({ path: `${acme}/members/${name}` })).state;

/** Returns what keeps people out, in light and in dark. */
async function findingsInBoth(page: Page): Promise<readonly string[][]> {
  const inLight = await findingsOf(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const inDark = await findingsOf(page, '{ runOnly: ["color-contrast"] }');
  await page.emulateMedia({ colorScheme: "light" });
  return [inLight, inDark];
}

describe("members", () => {
  test("are chosen with the keyboard, as a range too, and all but those that fail are suspended", async () => {
    await createMembers("many-a", "many-b", "many-c");
    const { page, open, problems } = window;
    await open(`${acme}/members?order=name`);
    await page.getByRole("checkbox", { name: "Choose many-a" }).waitFor();
    await focusOn(page, "Choose many-a");
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+Space");
    const bar = page.getByRole("group", { name: "With what is chosen" });
    await bar.getByText("3 chosen").waitFor();
    const cells = page.getByRole("row", { name: /many-a/ }).locator("td");
    const tops = await cells.evaluateAll((each) => each.map((cell) => cell.getBoundingClientRect().top));
    expect([tops.length > 3, new Set(tops).size]).toEqual([true, 1]);
    await page.getByRole("checkbox", { name: "Choose many-b" }).uncheck();
    // The last owner cannot be suspended.
    await page.getByRole("checkbox", { name: "Choose wile" }).check();
    await bar.getByText("3 chosen").waitFor();
    expect(await findingsInBoth(page)).toEqual([[], []]);
    await page.getByRole("checkbox", { name: "Choose many-c" }).focus();
    await page.keyboard.press("Enter");
    await focusOn(page, "Suspend");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Suspend 3 members?" });
    const names = dialog.getByRole("list", { name: "Which ones" }).getByRole("listitem");
    expect(await names.allTextContents()).toEqual(["many-a", "many-c", "wile"]);
    await dialog.getByRole("button", { name: "Suspend" }).click();
    await dialog.getByText("2 of 3 done.").waitFor();
    const failures = dialog.getByRole("region", { name: "Failed" }).getByRole("listitem");
    expect(await failures.allTextContents()).toEqual([expect.stringMatching(/^wile .*owner/)]);
    expect(await findingsInBoth(page)).toEqual([[], []]);
    await dialog.getByRole("button", { name: "Close" }).click();
    await bar.getByText("1 chosen").waitFor();
    expect(await page.getByRole("checkbox", { name: "Choose wile" }).isChecked()).toBe(true);
    expect([await stateOf("many-a"), await stateOf("many-b"), await stateOf("many-c"), await stateOf("wile")]).toEqual([
      Member_State.SUSPENDED,
      Member_State.ACTIVE,
      Member_State.SUSPENDED,
      Member_State.ACTIVE,
    ]);
    expect(await shellCommands(page, "tenantry")).toContainEqual(
      expect.stringMatching(/^tenantry suspend orgs\/acme\/members\/many-a --etag \S+$/),
    );
    expect(problems).toEqual([]);
  });

  test("that are left are those before which somebody stops", async () => {
    await createMembers("stop-a", "stop-b");
    const { page, open } = window;
    await open(`${acme}/members?q=stop-`);
    await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
    await page.getByRole("group", { name: "With what is chosen" }).getByRole("button", { name: "Suspend" }).click();
    const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route("**/SuspendMember", async (route) => {
      begun.resolve();
      await goesOn.promise;
      await route.continue();
    });
    const dialog = page.getByRole("dialog", { name: "Suspend 2 members?" });
    await dialog.getByRole("button", { name: "Suspend" }).click();
    await begun.promise;
    await dialog.getByRole("button", { name: "Stop" }).click();
    await dialog.getByText("It stops after the one that has begun.").waitFor();
    goesOn.resolve();
    await dialog.getByText("1 of 2 done.").waitFor();
    await dialog.getByText("Not begun, because you stopped it: 1 member.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(new Set([await stateOf("stop-a"), await stateOf("stop-b")])).toEqual(
      new Set([Member_State.ACTIVE, Member_State.SUSPENDED]),
    );
    await page.unroute("**/SuspendMember");
  });

  test("go on being suspended while somebody who is about to leave is asked, and no longer once they leave", async () => {
    await createMembers("leave-a", "leave-b", "leave-c");
    const { page, open } = window;
    const isHeld = (): Promise<boolean> =>
      page.evaluate("!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))");
    await open(`${acme}/projects`);
    const navigation = page.getByRole("navigation", { name: "Organisation" });
    for (const name of ["Groups", "Members"]) {
      await navigation.getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
    }
    for (const name of ["leave-a", "leave-b", "leave-c"]) {
      await page.getByRole("checkbox", { name: `Choose ${name}` }).check();
    }
    await page.getByRole("group", { name: "With what is chosen" }).getByRole("button", { name: "Suspend" }).click();
    // Each call waits until the test lets it go on.
    const calls = [0, 1].map(() => ({ begun: Promise.withResolvers<void>(), goesOn: Promise.withResolvers<void>() }));
    let count = 0;
    await page.route("**/SuspendMember", async (route) => {
      const call = calls[count];
      count += 1;
      call?.begun.resolve();
      await call?.goesOn.promise;
      await route.continue();
    });
    const [first, second] = [required(calls[0]), required(calls[1])];
    const dialog = page.getByRole("dialog", { name: "Suspend 3 members?" });
    await dialog.getByRole("button", { name: "Suspend" }).click();
    await first.begun.promise;
    expect(await isHeld()).toBe(true);
    const question = page.getByRole("dialog", { name: "It still goes on" });
    await page.evaluate("history.back()");
    await question.getByText("3 of them are not done yet.").waitFor();
    await page.evaluate("history.forward()");
    await question.waitFor({ state: "detached" });
    await page.evaluate("history.back()");
    await question.waitFor();
    await page.evaluate("history.back()");
    await page.waitForURL(`**${acme}/projects`);
    await question.getByRole("button", { name: "Stay" }).click();
    await page.waitForURL(`**${acme}/members`);
    first.goesOn.resolve();
    await second.begun.promise;
    await dialog.getByText("1 of 3").waitFor();
    await page.evaluate("history.back()");
    await question.getByText("2 of them are not done yet.").waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await question.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { name: "Groups" }).waitFor();
    second.goesOn.resolve();
    const said = page.getByRole("status", { name: "What was done" });
    await said.getByText("Suspended 2 of 3 members, and then stopped, because you left.").waitFor();
    expect([count, await isHeld()]).toEqual([2, false]);
    const states = await Promise.all(["leave-a", "leave-b", "leave-c"].map(stateOf));
    expect(states.filter((state) => state === Member_State.SUSPENDED)).toHaveLength(2);
    await page.unroute("**/SuspendMember");
  });

  test("that somebody else has changed or deleted are named, and what to do is said", async () => {
    await createMembers("stale-a", "stale-b");
    const { page, open } = window;
    await open(`${acme}/members`);
    await page.getByRole("checkbox", { name: "Choose stale-a" }).check();
    await page.getByRole("checkbox", { name: "Choose stale-b" }).check();
    const bar = page.getByRole("group", { name: "With what is chosen" });
    await bar.getByRole("button", { name: "Suspend" }).click();
    const path = `${acme}/members/stale-b`;
    await place.api.members.updateMember({ path, member: { description: "Changed" } });
    const suspending = page.getByRole("dialog", { name: "Suspend 2 members?" });
    await suspending.getByRole("button", { name: "Suspend" }).click();
    const failures = suspending.getByRole("region", { name: "Failed" }).getByRole("listitem");
    await failures.first().waitFor();
    expect(await failures.allTextContents()).toEqual([expect.stringMatching(/^stale-b Somebody has changed it/)]);
    await suspending.getByRole("button", { name: "Close" }).click();

    await page.getByRole("checkbox", { name: "Choose stale-a" }).check();
    await bar.getByText("2 chosen").waitFor();
    await bar.getByRole("button", { name: "Delete" }).click();
    const deleting = page.getByRole("dialog", { name: "Delete 2 members?" });
    await deleting.waitFor();
    await place.api.members.deleteMember({ path });
    await deleting.getByRole("button", { name: "Delete" }).click();
    const problem = (await deleting.getByRole("alert").textContent()) ?? "";
    expect([problem, /@[0-9a-f]{8}-/.test(problem)]).toEqual([expect.stringContaining("stale-b"), false]);
    await deleting.getByRole("button", { name: "Cancel" }).click();
    await bar.getByRole("button", { name: "Choose none" }).press("Enter");
    await bar.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Choose all that are shown");
  });

  test("are put into a group and taken out of it, after the screen has shown who gains and loses what", async () => {
    await createMembers("join-a", "join-b");
    const { page, open, problems } = window;
    await open(`${acme}/members?q=join-`);
    await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
    const bar = page.getByRole("group", { name: "With what is chosen" });
    await bar.getByRole("button", { name: "Add to a group" }).click();
    const adding = page.getByRole("dialog", { name: "Add 2 members to a group?" });
    await pick(page, "Group", "shop");
    await adding.getByRole("button", { name: "Show what changes" }).click();
    await adding.getByText("2 members gain permissions.").waitFor();
    await adding.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("status", { name: "What was done" }).getByText("Added 2 members.").waitFor();

    await open(`${acme}/groups/shop`);
    await page.getByRole("checkbox", { name: "Choose join-a" }).check();
    await page.getByRole("checkbox", { name: "Choose join-b" }).check();
    await bar.getByRole("button", { name: "Remove" }).click();
    const removing = page.getByRole("dialog", { name: "Remove 2 members?" });
    await removing.getByRole("button", { name: "Show what changes" }).click();
    await removing.getByText("2 members lose permissions.").waitFor();
    await removing.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("checkbox", { name: "Choose join-a" }).waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("are deleted all together, or none", async () => {
    const { members } = await createMembers("gone-a", "gone-b");
    const { page, open } = window;
    await open(`${acme}/members?q=gone-`);
    await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
    await page.getByRole("group", { name: "With what is chosen" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete 2 members?" }).getByRole("button", { name: "Delete" }).click();
    await page.getByText("No member is like that.").waitFor();
    await page.getByRole("status", { name: "What was done" }).getByText("Deleted 2 members.").waitFor();
    const commands = await shellCommands(page, "tenantry");
    const command = commands.find((each) => each.startsWith("tenantry batch-delete orgs/acme/members"));
    for (const { id } of members) expect(command).toContain(`/orgs/acme/members/@${id}`);
  });

  test("cannot be suspended by somebody who may not, who is told what is missing", async () => {
    const roleBinding = { name: "zoe-views", rolePath: "/roles/viewer", subjectPath: `${acme}/members/zoe` };
    await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
    const { page, open } = await place.signIn(`${acme}/members/zoe`);
    await open(`${acme}/members`);
    await page.getByRole("checkbox", { name: "Choose alice" }).check();
    const bar = page.getByRole("group", { name: "With what is chosen" });
    const suspend = bar.getByRole("button", { name: "Suspend" });
    await expect.poll(() => suspend.getAttribute("aria-disabled")).toBe("true");
    await suspend.press("Enter");
    const reason = page.getByRole("dialog", { name: "You may not do this" });
    await reason.getByText("iam.members.suspend").waitFor();
  });
});

test("several roles are taken away at once, after the screen has shown who loses what", async () => {
  const projects = `${acme}/projects/rockets`;
  const grant = (name: string, member: string) =>
    place.api.roleBindings.createRoleBinding({
      parentPath: projects,
      roleBinding: { name, rolePath: "/roles/viewer", subjectPath: `${acme}/members/${member}` },
    });
  await grant("dave-looks", "dave");
  await grant("erin-looks", "erin");
  const { page, open, problems } = window;
  await open(`${projects}/roleBindings?q=looks`);
  const [dave, erin] = ["dave", "erin"].map((who) =>
    page.getByRole("checkbox", { name: `Choose viewer (predefined) of ${who}` }),
  );
  await dave?.click();
  await erin?.click({ modifiers: ["Shift"] });
  await page.getByRole("group", { name: "With what is chosen" }).getByRole("button", { name: "Take away" }).click();
  const dialog = page.getByRole("dialog", { name: "Take away 2 roles?" });
  await dialog.getByRole("button", { name: "Show what changes" }).click();
  await dialog.getByText("2 members lose permissions.").waitFor();
  await dialog.getByRole("button", { name: "Take away" }).click();
  await page.getByText("No role that is granted has these words.").waitFor();
  expect(problems).toEqual([]);
});

test("several keys are replaced, and the secrets of those that are can be copied together", async () => {
  const ci = `${acme}/members/ci`;
  await createMembers("ci");
  for (const name of ["build", "deploy", "test"]) {
    await place.api.apiKeys.createApiKey({ parentPath: ci, apiKey: { name } });
  }
  const { page, open, problems } = window;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: place.url });
  await open(`${ci}?tab=keys`);
  await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
  const bar = page.getByRole("group", { name: "With what is chosen" });
  await bar.getByRole("button", { name: "Replace" }).click();
  const dialog = page.getByRole("dialog", { name: "Replace 3 API keys?" });
  await dialog.getByRole("combobox", { name: "The secret before ends" }).selectOption("In an hour");
  await place.api.apiKeys.deleteApiKey({ path: `${ci}/apiKeys/deploy` });
  await dialog.getByRole("button", { name: "Replace" }).click();
  await dialog.getByText("2 of 3 done.").waitFor();
  const failures = dialog.getByRole("region", { name: "Failed" }).getByRole("listitem");
  expect(await failures.allTextContents()).toEqual([expect.stringMatching(/^deploy /)]);
  await dialog.getByRole("button", { name: "Close" }).click();

  const secrets = page.getByRole("region", { name: "The secrets of the new keys" });
  await secrets.getByRole("button", { name: "Copy all" }).click();
  await secrets.getByText("Copied").waitFor();
  const copied = String(await page.evaluate("navigator.clipboard.readText()"));
  const lines = copied.trimEnd().split("\n");
  expect(lines.map((line) => line.split("\t")[0])).toEqual(["build-2", "test-2"]);
  for (const line of lines) {
    const { transport } = createApi("gRPC", place.url, line.split("\t")[1]);
    expect((await createClient(MeService, transport).getMe({})).member?.path).toBe(ci);
  }
  expect(await findingsInBoth(page)).toEqual([[], []]);
  await secrets.getByRole("button", { name: "I have them" }).click();
  await secrets.waitFor({ state: "detached" });

  // Those that are replaced already are not replaced again.
  await page.getByRole("checkbox", { name: "Choose test-2" }).waitFor();
  await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
  await bar.getByText("4 chosen").waitFor();
  await bar.getByRole("button", { name: "Replace" }).click();
  await page.getByText("Left out, because it cannot be done to them: 2 API keys.").waitFor();
  const names = page.getByRole("list", { name: "Which ones" }).getByRole("listitem");
  expect(await names.allTextContents()).toEqual(["build-2", "test-2"]);
  expect(problems).toEqual([]);
});

test("several keys are deleted, and several sessions ended", async () => {
  const deployer = `${acme}/members/deployer`;
  for (const name of ["one", "two"]) {
    await place.api.apiKeys.createApiKey({ parentPath: deployer, apiKey: { name } });
  }
  const { page, open, problems } = window;
  const bar = page.getByRole("group", { name: "With what is chosen" });
  await open(`${deployer}?tab=keys`);
  await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
  await bar.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete 2 API keys?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByText("No API keys.").waitFor();

  await place.signIn(`${acme}/members/dave`);
  await open(`${acme}/members/dave?tab=sessions`);
  await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
  await bar.getByRole("button", { name: "End" }).click();
  await page.getByRole("dialog", { name: "End 1 session?" }).getByRole("button", { name: "End" }).click();
  await page.getByText("Signed in nowhere.").waitFor();
  expect(problems).toEqual([]);
});

test("several requests for access are approved with the same words, and each has a screen of its own", async () => {
  const apiKey = await place.api.apiKeys.createApiKey({
    parentPath: `${acme}/members/erin`,
    apiKey: { name: "asks" },
  });
  const erin = createClient(AccessRequestsService, createApi("gRPC", place.url, apiKey.secret ?? "").transport);
  const expireTime = timestampFromMs(Date.now() + 3_600_000);
  for (const project of ["rockets", "web-shop"]) {
    const wanted = { rolePath: "/roles/viewer", resourcePath: `${acme}/projects/${project}`, expireTime };
    await erin.createAccessRequest({ parentPath: acme, accessRequest: { ...wanted, reason: `To see ${project}` } });
  }
  const { page, open, problems } = window;
  await open(`${acme}/accessRequests`);
  await page.getByRole("checkbox", { name: "Choose all that are shown" }).check();
  await page.getByRole("group", { name: "With what is chosen" }).getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog", { name: "Approve 2 requests?" });
  await dialog.getByText("viewer (predefined) on Web shop for erin").waitFor();
  await dialog.getByRole("textbox", { name: "What to tell the member" }).fill("For today");
  await dialog.getByRole("button", { name: "Approve" }).click();
  await dialog.waitFor({ state: "detached" });
  const row = page.getByRole("row", { name: /To see web-shop/ });
  await row.getByText("Approved", { exact: true }).waitFor();
  await row.locator('a[href*="/accessRequests/"]').click();
  await page.getByRole("heading", { name: "viewer (predefined) on Web shop" }).waitFor();
  await page.getByText("For today").first().waitFor();
  await page.getByRole("row", { name: /Created access request/ }).waitFor();
  await page.getByRole("row", { name: /Changed access request/ }).waitFor();
  expect(problems).toEqual([]);
});

test("a group is moved into another one, after the screen has shown who gains and who loses what", async () => {
  const { page, open, problems } = window;
  await open(`${acme}/groups/platform`);
  await page.getByRole("button", { name: "Move on-call", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Move on-call" });
  await pick(page, "Into which group", "on-call");
  await dialog.getByRole("button", { name: "Show what changes" }).click();
  await dialog
    .getByRole("alert")
    .getByText(/itself|cycle/)
    .waitFor();
  await pick(page, "Into which group", "shop");
  await dialog.getByRole("button", { name: "Show what changes" }).click();
  const gains = dialog.getByRole("status", { name: "By being nested in shop" });
  await gains.getByText("2 members gain permissions.").waitFor();
  // One of them is in the group itself, and so keeps what it gives.
  const loses = dialog.getByRole("status", { name: "By leaving platform" });
  await loses.getByText("1 member loses permissions.").waitFor();
  expect(await loses.locator("summary").allTextContents()).toEqual([
    expect.stringMatching(/^deployer on anvils +−/),
    expect.stringMatching(/^deployer on rockets +−/),
  ]);
  const nested = await place.api.groupMembers.listSubgroups({ parentPath: `${acme}/groups/platform` });
  expect(nested.subgroups.map(({ name }) => name)).toEqual(["on-call"]);
  // Where it cannot be taken out of the one, it does not stay in the other.
  await page.route("**/DeleteSubgroup", (route) => route.fulfill({ status: 503 }), { times: 1 });
  await dialog.getByRole("button", { name: "Move" }).click();
  await dialog.getByRole("alert").waitFor();
  expect((await place.api.groupMembers.listSubgroups({ parentPath: `${acme}/groups/shop` })).subgroups).toEqual([]);
  expect(problems.splice(0).every((problem) => problem.includes("503"))).toBe(true);
  await dialog.getByRole("button", { name: "Move" }).click();
  await page.getByText("No group is nested in it.").waitFor();
  await page.getByRole("status", { name: "What was done" }).getByText("Moved on-call to shop.").waitFor();
  const { subgroups } = await place.api.groupMembers.listSubgroups({ parentPath: `${acme}/groups/shop` });
  expect(subgroups.map(({ name }) => name)).toEqual(["on-call"]);
  const accessService = createClient(AccessService, place.api.transport);
  const access = { subjectPath: `${acme}/members/deployer`, permission: "repos.access.write" };
  const may = async (project: string): Promise<boolean> =>
    (await accessService.checkAccess({ ...access, resourcePath: `${acme}/projects/${project}` })).allowed;
  expect([await may("web-shop"), await may("rockets")]).toEqual([true, false]);
  expect(problems).toEqual([]);
});

test("what people have not changed in a form is not sent", async () => {
  const client = { name: "shop", description: "Sells", redirectUris: ["https://shop.example.com/callback"] };
  await place.api.clients.createClient({ parentPath: acme, client });
  const { page, open, problems } = window;
  await open(`${acme}/clients/shop`);
  await page.getByRole("button", { name: "Change" }).click();
  const dialog = page.getByRole("dialog", { name: "Change shop" });
  await dialog.getByRole("textbox", { name: "Display name" }).fill("Shop front");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Shop front" }).waitFor();
  await page.getByRole("status", { name: "What was done" }).getByText("Saved shop.").waitFor();
  expect(await shellCommands(page, "tenantry")).toContainEqual(
    expect.stringMatching(/^tenantry update orgs\/acme\/clients\/shop --display-name 'Shop front' --etag \S+$/),
  );
  expect(problems).toEqual([]);
});

test("on a small screen, what was done is said beside what can be done", async () => {
  await createMembers("small-a", "small-b");
  const { page, open } = await place.signIn(wile, { width: 360 });
  await open(`${acme}/members?q=small-`);
  await page.getByRole("button", { name: "Suspend small-a" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  const notice = page.getByRole("status", { name: "What was done" }).getByText("Suspended small-a.");
  await notice.hover();
  await page.getByRole("checkbox", { name: "Choose all that are shown" }).focus();
  await page.keyboard.press("Space");
  const bar = page.getByRole("group", { name: "With what is chosen" });
  const [above, below] = [required(await notice.boundingBox()), required(await bar.boundingBox())];
  expect(above.y + above.height).toBeLessThan(below.y);
});

test("a screen of what is not there has a heading, which says so", async () => {
  const { page, open } = window;
  for (const path of ["members/nobody", "groups/none", "scimSources/none"]) {
    await open(`${acme}/${path}`);
    await page.getByRole("heading", { level: 1, name: "There is nothing here" }).waitFor();
    await page.getByRole("alert").getByText("none").or(page.getByRole("alert").getByText("nobody")).waitFor();
  }
  expect(await findingsOf(page)).toEqual([]);
});

test("the path and the id of a row are copied, which a notice says until it is closed", async () => {
  const { page, open, problems } = window;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: place.url });
  await open(`${acme}/projects`);
  const more = page.getByRole("button", { name: "More of Web shop" });
  await more.click();
  await page.getByRole("button", { name: "Copy the path" }).click();
  const said = page.getByRole("status", { name: "What was done" });
  await said.getByText(`${acme}/projects/web-shop`).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${acme}/projects/web-shop`);
  await said.getByRole("button", { name: "Close this notice" }).click();
  await expect.poll(() => said.textContent()).toBe("");
  await more.click();
  await page.getByRole("button", { name: "Copy the id" }).click();
  const { id } = await place.api.projects.getProject({ path: `${acme}/projects/web-shop` });
  await said.getByText(id).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(id);
  expect(problems).toEqual([]);
});
