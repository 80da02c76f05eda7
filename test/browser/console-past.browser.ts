// What people do in the console who look at what an organisation was. Each test is a job.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";

const acme = "/orgs/acme";
const wile = `${acme}/members/wile`;

let place: ConsolePlace;
beforeAll(async () => {
  place = await openConsolePlace();
});
afterAll(() => place.close());

test("somebody moves the slider back, and sees who was in a group that was deleted since", async () => {
  const { groups, groupMembers, members } = place.api;
  const { path: nyx } = await members.createMember({ parentPath: acme, member: { name: "nyx", displayName: "Nyx" } });
  const group = { name: "night-watch", displayName: "Night watch" };
  const { path } = await groups.createGroup({ parentPath: acme, group });
  const { etag } = await groupMembers.createGroupMember({ parentPath: path, groupMember: { memberPath: nyx } });
  await groups.deleteGroup({ path });
  await members.updateMember({ path: nyx, member: { displayName: "Nyx Night" } });
  const { page, open, problems } = await place.signIn(wile);
  await open(`${acme}/changes?revision=${etag}`);
  await page.getByRole("link", { name: "As it was then" }).click();
  await page.getByRole("heading", { level: 1, name: "As it was" }).waitFor();
  await page.getByRole("table", { name: "Members" }).getByRole("cell", { name: "Nyx", exact: true }).waitFor();
  await page.getByLabel("What is shown").selectOption({ label: "Groups" });
  await page.getByRole("link", { name: "Who was in it: Night watch" }).click();
  await page
    .getByRole("table", { name: "Members of a group" })
    .getByRole("cell", { name: "Nyx", exact: true })
    .waitFor();
  expect(new URL(page.url()).searchParams.get("at")).toBe(etag);

  // To the beginning of the log, and step by step to now.
  await open(`${acme}/past`);
  const nyxNow = page.getByRole("table", { name: "Members" }).getByRole("cell", { name: "Nyx Night" });
  await nyxNow.waitFor();
  const slider = page.getByLabel("Moment");
  await slider.focus();
  await page.keyboard.press("Home");
  await page.waitForURL(/at=\d{4}-/);
  await nyxNow.waitFor({ state: "detached" });
  expect(await page.locator("[role=alert], .field-error").count()).toBe(0);
  await page.keyboard.press("End");
  await nyxNow.waitFor();
  expect(new URL(page.url()).searchParams.get("at")).toBeNull();
  expect(problems).toEqual([]);
});

test("a moment that is none is refused at its field, and somebody who may not read the log is told who can help", async () => {
  const { page, open } = await place.signIn(wile);
  await open(`${acme}/past`);
  await page.getByLabel("Or as of a revision").fill("then");
  await page.getByRole("button", { name: "Ask as of then" }).click();
  await page.locator(".moment .field-error").waitFor();

  const { page: other, open: openOther, problems } = await place.signIn(`${acme}/members/dave`);
  await openOther(`${acme}/past`);
  const button = other.getByRole("button", { name: "As it was" });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
  // Playwright does not click what is aria-disabled.
  await button.press("Enter");
  await other.getByRole("dialog", { name: "You may not do this" }).getByText("iam.changes.list").waitFor();
  expect(problems).toEqual([]);
});
