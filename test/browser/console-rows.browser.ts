// What people do in the console with one row of a list, and with what was suspended or deleted. Each test is a job.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Org_State } from "../../gen/iam/v1alpha/org_pb.ts";
import { Project_State } from "../../gen/iam/v1alpha/project_pb.ts";
import { findingsOf } from "./axe-findings.ts";
import { type CloudOfAcme, openCloudOfAcme, web } from "./cloud-of-acme.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { focusOn } from "./focus-on.ts";
import { pick } from "./pick.ts";

const acme = "/orgs/acme";
const wile = `${acme}/members/wile`;

let place: ConsolePlace;
let cloud: CloudOfAcme;
/** Of somebody who may do all that is here. */
let window: ConsolePage;
beforeAll(async () => {
  place = await openConsolePlace();
  cloud = await openCloudOfAcme(place);
  window = await place.signIn(wile, { staysOpen: true });
});
afterAll(() => place.close());

test("a project is suspended on its screen, which then says what that means, and activated again", async () => {
  const { page, open, problems } = window;
  const path = `${acme}/projects/rockets`;
  await open(path);
  await page.getByRole("button", { name: "Suspend" }).click();
  const question = page.getByRole("dialog", { name: "Suspend rockets?" });
  await question.getByText(/providers suspend its resources/).waitFor();
  await question.getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("status").getByText("Suspended rockets.").waitFor();
  await page.getByText("This project is suspended").waitFor();
  expect((await place.api.projects.getProject({ path })).state).toBe(Project_State.SUSPENDED);
  expect(await findingsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByRole("dialog", { name: "Activate rockets?" }).getByRole("button", { name: "Activate" }).click();
  await page.getByText("This project is suspended").waitFor({ state: "detached" });
  expect((await place.api.projects.getProject({ path })).state).toBe(Project_State.ACTIVE);
  expect(problems).toEqual([]);
});

test("a deleted project is found among those that are deleted, looked at, and restored in the list and on its screen", async () => {
  const { page, open, problems } = window;
  const path = `${acme}/projects/rockets`;
  await place.api.projects.deleteProject({ path });
  await open(`${acme}/projects`);
  await page.getByRole("combobox", { name: "State" }).selectOption("Deleted");
  await page.getByRole("button", { name: "Restore rockets" }).click();
  await page.getByRole("dialog", { name: "Restore rockets?" }).getByRole("button", { name: "Restore" }).click();
  await page.getByText("No project is like that.").waitFor();
  await page.getByRole("status").getByText("Restored rockets.").waitFor();
  await place.api.projects.deleteProject({ path });
  await open(`${acme}/projects?state=DELETED`);
  await page.getByRole("link", { name: "rockets" }).click();
  await page.getByText("This project is deleted.").waitFor();
  await page.getByText("Gone for ever after").waitFor();
  expect(await page.getByRole("button", { name: "Change" }).count()).toBe(0);
  expect(await findingsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("dialog", { name: "Restore rockets?" }).getByRole("button", { name: "Restore" }).click();
  await page.waitForURL(`${place.url}/console${path}`);
  expect((await place.api.projects.getProject({ path })).state).toBe(Project_State.ACTIVE);
  expect(problems).toEqual([]);
});

test("a deleted member and a deleted resource are restored from their lists", async () => {
  const { page, open, problems } = window;
  const path = `${acme}/members/erin`;
  await place.api.members.deleteMember({ path });
  await open(`${acme}/members?state=DELETED`);
  await page.getByRole("button", { name: "Restore erin" }).click();
  await page.getByRole("dialog", { name: "Restore erin?" }).getByRole("button", { name: "Restore" }).click();
  await page.getByText("No member is like that.").waitFor();
  await place.api.members.getMember({ path });
  await cloud.create("data", {
    typePath: "/services/compute/resourceTypes/volumes",
    quantities: {},
    parameters: {},
  });
  await cloud.complete();
  await cloud.resources.deleteResource({ path: `${web}/resources/data` });
  await cloud.complete();
  await open(`${web}/resources?state=DELETED`);
  await page.getByRole("button", { name: "More of data" }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("dialog", { name: "Restore data?" }).getByRole("button", { name: "Restore" }).click();
  await page.getByRole("heading", { name: "undelete data", exact: true }).waitFor();
  await cloud.complete();
  await page.getByText("Done").waitFor();
  await cloud.resources.getResource({ path: `${web}/resources/data` });
  expect(problems).toEqual([]);
});

test("labels are changed with the name, one in a line, and the screen shows them", async () => {
  const { page, open, problems } = window;
  const path = `${acme}/members/erin`;
  await open(path);
  await page.getByRole("button", { name: "Change" }).click();
  const form = page.getByRole("dialog", { name: "Change erin" });
  await form.getByLabel("Labels").fill("team=web\nDESK=4");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText(/must have keys of 1 to 63 characters/).waitFor();
  await form.getByLabel("Labels").fill("team = web\n\ndesk");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText(/line 3 must be a key and a value/).waitFor();
  await form.getByLabel("Labels").fill("team = web\ndesk = 4");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  await page.getByText("team=web").waitFor();
  expect((await place.api.members.getMember({ path })).labels).toEqual({ team: "web", desk: "4" });
  expect(await findingsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test("the operator suspends an organisation in the list, which its screen says, and activates it again", async () => {
  const { orgs } = place.api;
  const { path } = await orgs.createOrg({ org: { name: "springs" } });
  const { page, open, problems } = await place.signIn("/orgs/system/members/operator");
  await open("/platform");
  await page.getByRole("button", { name: "More of springs" }).click();
  await page.getByRole("button", { name: "Suspend" }).click();
  const question = page.getByRole("dialog", { name: "Suspend springs?" });
  await question.getByText(/providers suspend its resources/).waitFor();
  await question.getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("status").getByText("Suspended springs.").waitFor();
  expect((await orgs.getOrg({ path })).state).toBe(Org_State.SUSPENDED);
  await open(path);
  await page.getByText("This organisation is suspended").waitFor();
  await open("/platform?state=SUSPENDED");
  await page.getByRole("button", { name: "More of springs" }).click();
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByRole("dialog", { name: "Activate springs?" }).getByRole("button", { name: "Activate" }).click();
  await page.getByText("No organisation is like that.").waitFor();
  expect((await orgs.getOrg({ path })).state).toBe(Org_State.ACTIVE);
  expect(problems).toEqual([]);
});

test("the operator restores an organisation, and a customer with its organisations", async () => {
  const { orgs, customers } = place.api;
  const { customerPath } = await orgs.createOrg({ org: { name: "bolts" } });
  await orgs.createOrg({ org: { name: "nuts", customerPath } });
  await orgs.deleteOrg({ path: "/orgs/nuts" });
  const { page, open, problems } = await place.signIn("/orgs/system/members/operator");
  await open("/platform");
  await page.getByRole("combobox", { name: "State" }).selectOption("Deleted");
  await page.getByRole("button", { name: "Restore nuts" }).click();
  await page.getByRole("dialog", { name: "Restore nuts?" }).getByRole("button", { name: "Restore" }).click();
  await page.getByText("No organisation is like that.").waitFor();
  await orgs.getOrg({ path: "/orgs/nuts" });
  await customers.deleteCustomer({ path: customerPath });
  await page.getByRole("tab", { name: "Customers" }).click();
  await page.getByRole("combobox", { name: "State" }).selectOption("Deleted");
  await page.getByRole("button", { name: "Restore bolts" }).click();
  await page.getByRole("dialog", { name: "Restore bolts?" }).getByRole("button", { name: "Restore" }).click();
  await page.getByText("No customer is like that.").waitFor();
  await orgs.getOrg({ path: "/orgs/nuts" });
  expect(problems).toEqual([]);
});

test("with the keyboard alone, the menu of a row opens it, changes it and deletes it", async () => {
  const { page, open, problems } = window;
  await open(`${acme}/projects`);
  await focusOn(page, "More of anvils");
  await page.keyboard.press("Enter");
  const menu = page.getByRole("dialog", { name: "More of anvils" });
  const words = ["Open", "Suspend", "Change", "Delete", "Copy the path", "Copy the id"];
  await expect.poll(() => menu.locator("a, button:not(:disabled)").allTextContents()).toEqual(words);
  expect(await findingsOf(page)).toEqual([]);
  const focused = (): Promise<string> => page.evaluate("document.activeElement.textContent");
  await expect.poll(focused).toBe("Open");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  expect(await focused()).toBe("Change");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Display name" }).fill("All anvils");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "All anvils" }).waitFor();
  await focusOn(page, "More of All anvils");
  await page.keyboard.press("Enter");
  const renamed = page.getByRole("dialog", { name: "More of All anvils" });
  await expect.poll(() => renamed.locator("a, button:not(:disabled)").count()).toBe(words.length);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  expect(await focused()).toBe("Delete");
  await page.keyboard.press("Enter");
  const question = page.getByRole("dialog", { name: "Delete All anvils?" });
  await question.getByRole("button", { name: "Delete" }).press("Enter");
  await page.getByRole("link", { name: "All anvils" }).waitFor({ state: "detached" });
  // Until it is gone, Tab stays in it.
  await question.waitFor({ state: "detached" });
  await focusOn(page, "More of Web shop");
  await page.keyboard.press("Enter");
  await expect.poll(focused).toBe("Open");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Web shop" }).waitFor();
  expect(problems).toEqual([]);
});

test("the menu of a row says why something in it would be refused, and who can help", async () => {
  const roleBinding = { name: "alice-views", rolePath: "/roles/viewer", subjectPath: `${acme}/members/alice` };
  await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
  const { page, open, problems } = await place.signIn(`${acme}/members/alice`);
  for (const [list, name, permission] of [
    ["projects", "Web shop", "iam.projects.delete"],
    ["groups", "engineering", "iam.groups.delete"],
    ["members", "dave", "iam.members.delete"],
    ["projects/web-shop/resources", "data", "compute.volumes.delete"],
  ] as const) {
    await open(`${acme}/${list}`);
    await page.getByRole("button", { name: `More of ${name}`, exact: true }).click();
    const button = page.getByRole("dialog", { name: `More of ${name}` }).getByRole("button", { name: "Delete" });
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
    await button.press("Enter");
    const reason = page.getByRole("dialog", { name: "You may not do this" });
    await reason.getByText(permission).waitFor();
    await reason.getByRole("link", { name: "wile" }).waitFor();
  }
  expect(problems).toEqual([]);
});

test("the menu of a row can be used when the service could not say what the person may do", async () => {
  const { page, open } = await place.signIn(wile);
  await place.api.groups.createGroup({ parentPath: acme, group: { name: "gone-soon" } });
  await open(`${acme}/groups`);
  await page.getByRole("button", { name: "More of gone-soon" }).waitFor();
  await page.route(/AccessService\/TestPermissions/, (route) =>
    route.fulfill({ status: 429, json: { code: "resource_exhausted" } }),
  );
  await page.getByRole("button", { name: "More of gone-soon" }).click();
  await page.getByRole("dialog", { name: "More of gone-soon" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete gone-soon?" }).waitFor();
});

test("what has got the name of something meanwhile is not deleted in its place", async () => {
  const { page, open, problems } = window;
  const { apiKeys, groupMembers } = place.api;
  const [bob, group] = [`${acme}/members/bob`, `${acme}/groups/on-call`];
  const key = { parentPath: bob, apiKey: { name: "laptop" } };
  await apiKeys.createApiKey(key);
  await open(`${bob}?tab=keys`);
  await page.getByRole("button", { name: "Delete laptop" }).click();
  const deletion = page.getByRole("dialog", { name: "Delete laptop?" });
  await deletion.waitFor();
  await apiKeys.deleteApiKey({ path: `${bob}/apiKeys/laptop` });
  await apiKeys.createApiKey(key);
  await deletion.getByRole("button", { name: "Delete" }).click();
  await deletion.getByRole("alert").getByText("Somebody has changed it").waitFor();
  await apiKeys.getApiKey({ path: `${bob}/apiKeys/laptop` });
  await open(group);
  await page.getByRole("button", { name: "Remove bob" }).click();
  const removal = page.getByRole("dialog", { name: "Remove bob?" });
  await removal.getByRole("button", { name: "Show what changes" }).click();
  await removal.getByRole("status").waitFor();
  await groupMembers.deleteGroupMember({ path: `${group}/members/bob` });
  await groupMembers.createGroupMember({ parentPath: group, groupMember: { memberPath: bob } });
  await removal.getByRole("button", { name: "Remove" }).click();
  await removal.getByRole("alert").getByText("Somebody has changed it").waitFor();
  await groupMembers.getGroupMember({ path: `${group}/members/bob` });
  expect(problems).toEqual([]);
});

test("what somebody types about a group stays while the list of groups cannot be read again", async () => {
  const { page, open } = await place.signIn(wile);
  await open(`${acme}/groups`);
  await page.getByRole("button", { name: "More of shop" }).click();
  await page.getByRole("dialog", { name: "More of shop" }).getByRole("button", { name: "Change" }).click();
  const dialog = page.getByRole("dialog", { name: "Change shop" });
  const description = dialog.getByRole("textbox", { name: "Description" });
  await description.fill("Sells anvils.");
  await page.route(/GroupsService\/ListGroups/, (route) =>
    route.fulfill({ status: 503, json: { code: "unavailable" } }),
  );
  const refused = page.waitForResponse(/GroupsService\/ListGroups/);
  await place.api.groups.createGroup({ parentPath: acme, group: { name: "fans" } });
  await refused;
  await page.unroute(/GroupsService\/ListGroups/);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved shop.").waitFor();
  expect((await place.api.groups.getGroup({ path: `${acme}/groups/shop` })).description).toBe("Sells anvils.");
});

test("what a role contains is said before it is granted, in a sentence and permission by permission", async () => {
  const { page, open, problems } = window;
  await open(`${acme}/roleBindings?create=true`);
  const dialog = page.getByRole("dialog", { name: "Grant a role" });
  await pick(page, "Role", "viewer");
  const contents = dialog.getByRole("status", { name: "What is in this role" });
  await contents.getByText(/^\d+ permissions for \d+ kinds of things\. It only reads\./).waitFor();
  await contents.getByText("Show all permissions").click();
  await contents.getByText("iam.groupMembers", { exact: true }).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await pick(page, "Role", "owner");
  await contents.getByText("Every permission there is").waitFor();
  expect(problems).toEqual([]);
});

test("somebody who has lost a role is told what they need, on what, and who can give it, and what the service said", async () => {
  const { roleBindings } = place.api;
  const admin = { name: "bob-owns", rolePath: "/roles/owner", subjectPath: `${acme}/members/bob` };
  await roleBindings.createRoleBinding({ parentPath: acme, roleBinding: admin });
  const viewer = { name: "bob-views", rolePath: "/roles/viewer", subjectPath: `${acme}/members/bob` };
  await roleBindings.createRoleBinding({ parentPath: acme, roleBinding: viewer });
  const { page, open, problems } = await place.signIn(`${acme}/members/bob`);
  await open(web);
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("Sells anvils.");
  await roleBindings.deleteRoleBinding({ path: `${acme}/roleBindings/bob-owns` });
  await page.getByRole("button", { name: "Save" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("You need iam.projects.update on Web shop.").waitFor();
  await alert.getByRole("link", { name: "wile" }).waitFor();
  await alert.getByText("What the service said").click();
  await alert.getByText(/the caller lacks the permission iam\.projects\.update/).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test("a member has its history, which leads to all of it; who may not read the log is told why", async () => {
  const { page, open, problems } = window;
  const path = `${acme}/members/zoe`;
  const member = { displayName: "Zoe Washburne" };
  await place.api.members.updateMember({ path, member, updateMask: { paths: ["display_name"] } });
  await place.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "laptop" } });
  await open(path);
  await page.getByRole("tab", { name: "History" }).click();
  const table = page.getByRole("table", { name: "Changes" });
  await table.getByRole("row", { name: /Created api key laptop/ }).waitFor();
  await table.getByRole("row", { name: /Changed member zoe/ }).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "All changes of this member" }).click();
  await page.getByRole("heading", { level: 1, name: "Changes" }).waitFor();
  await table.getByRole("row", { name: /Created member zoe/ }).waitFor();
  const role = { name: "sees-members", permissions: ["iam.members.get"] };
  const { path: rolePath } = await place.api.roles.createRole({ parentPath: acme, role });
  const roleBinding = { name: "carol-sees", rolePath, subjectPath: `${acme}/members/carol` };
  await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
  const carol = await place.signIn(`${acme}/members/carol`);
  await carol.open(`${path}?tab=history`);
  await carol.page.getByRole("button", { name: "Show the history" }).press("Enter");
  await carol.page.getByRole("dialog", { name: "You may not do this" }).getByText("iam.changes.list").waitFor();
  expect(problems).toEqual([]);
});
