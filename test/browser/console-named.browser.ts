// What people do in the console with what they have named: they find it, change it, delete it, and see where it is.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";

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

test("a project is renamed and deleted on its screen, which leads back to the list", async () => {
  const { page, open, problems } = window;
  const path = `${acme}/projects/anvils`;
  await open(path);
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByRole("textbox", { name: "Display name" }).fill("All anvils");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "All anvils" }).waitFor();
  expect(await place.api.projects.getProject({ path })).toMatchObject({ displayName: "All anvils", description: "" });
  await page.getByRole("button", { name: "Delete" }).click();
  const question = page.getByRole("dialog", { name: "Delete All anvils?" });
  await question.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("status").getByText("Deleted All anvils.").waitFor();
  await page.getByRole("link", { name: "All anvils" }).waitFor({ state: "detached" });
  await expect(place.api.projects.getProject({ path })).rejects.toThrow("there is no project");
  expect(problems).toEqual([]);
});

test("a group is deleted after its screen has shown who loses what", async () => {
  const { page, open, problems } = window;
  const path = `${acme}/groups/shop`;
  await open(path);
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("Builds the shop.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Builds the shop.").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Delete shop?" });
  await question.getByRole("button", { name: "Show what changes" }).click();
  await question.getByText("3 members lose permissions.").waitFor();
  await place.api.groups.getGroup({ path });
  await question.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { level: 1, name: "Groups" }).waitFor();
  await expect(place.api.groups.getGroup({ path })).rejects.toThrow("there is no group");
  expect(problems).toEqual([]);
});

test("a member is renamed and deleted on its screen, unless somebody else has changed it meanwhile", async () => {
  const { page, open, problems } = window;
  const path = `${acme}/members/erin`;
  await open(path);
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByRole("textbox", { name: "Display name" }).fill("Erin B");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "Erin B" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  const updateMask = { paths: ["display_name"] };
  await place.api.members.updateMember({ path, member: { displayName: "Erin C" }, updateMask });
  const question = page.getByRole("dialog", { name: "Delete Erin B?" });
  await question.getByRole("button", { name: "Delete" }).click();
  await question.getByRole("alert").waitFor();
  await question.getByRole("button", { name: "Cancel" }).click();
  // For a moment, a dialog without a name of what it is about still has a button to delete.
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Erin C" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete Erin C?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  await expect(place.api.members.getMember({ path })).rejects.toThrow("there is no member");
  expect(problems).toEqual([]);
});

test("a screen leads to those above it, by what people call these", async () => {
  const { page, open, problems } = window;
  await open(`${acme}/projects/web-shop/roleBindings`);
  const above = page.getByRole("navigation", { name: "Where this is" });
  await above.getByRole("link", { name: "Web shop" }).waitFor();
  await expect.poll(() => above.getByRole("listitem").allTextContents()).toEqual(["Projects", "Web shop"]);
  await above.getByRole("link", { name: "Web shop" }).click();
  await page.getByRole("heading", { level: 1, name: "Web shop", exact: true }).waitFor();
  await expect.poll(() => above.getByRole("listitem").allTextContents()).toEqual(["Projects"]);
  await open(`${acme}/members/none-such`);
  await above.getByRole("link", { name: "Members" }).click();
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  await above.waitFor({ state: "detached" });
  expect(problems).toEqual([]);
});

test("a form says at the name that it is taken, and leads to what it has created", async () => {
  const { page, open, problems } = window;
  await open(`${acme}/projects`);
  await page.getByRole("button", { name: "New project" }).click();
  const form = page.getByRole("dialog", { name: "New project" });
  const name = form.getByRole("textbox", { name: "Name", exact: true });
  await name.fill("rockets");
  await form.getByRole("button", { name: "Create" }).click();
  await form.getByText('there is already a project named "rockets" here').waitFor();
  expect(await name.getAttribute("aria-invalid")).toBe("true");
  await name.fill("magnets");
  await form.getByRole("button", { name: "Create" }).click();
  const said = page.getByRole("status", { name: "What was done" });
  await said.getByRole("link", { name: "magnets" }).click();
  await page.getByRole("heading", { level: 1, name: "magnets" }).waitFor();
  expect(problems).toEqual([]);
});

test("a screen of what is not there offers no other try, but the list", async () => {
  const { page, open } = window;
  await open(`${acme}/groups/none-such`);
  await page.getByRole("alert").getByText("there is no group").waitFor();
  expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  await page.getByRole("navigation", { name: "Where this is" }).getByRole("link", { name: "Groups" }).waitFor();
});

test("Ctrl-K opens a screen, what it has found, and the form for something new with the keyboard alone", async () => {
  const { page, open, problems } = window;
  await open(acme);
  await page.keyboard.press("Control+k");
  const dialog = page.getByRole("dialog", { name: "Find anything" });
  await dialog.getByRole("link", { name: "New project" }).waitFor();
  await page.keyboard.type("gro");
  await dialog.getByRole("link", { name: "Groups" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Groups" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("searchbox", { name: /A name/ }).fill("Carol D");
  await dialog.getByRole("link", { name: "Carol Danvers" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Carol Danvers" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("searchbox", { name: /A name/ }).fill("new p");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "New project" }).waitFor();
  expect(problems).toEqual([]);
});
