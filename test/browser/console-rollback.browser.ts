// What people do in the console who lead an organisation back. Each test is a job.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ChangesService } from "../../gen/iam/v1alpha/change_pb.ts";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";

const acme = "/orgs/acme";
const wile = `${acme}/members/wile`;

let place: ConsolePlace;
beforeAll(async () => {
  place = await openConsolePlace();
});
afterAll(() => place.close());

/** Returns the revision of the latest change of the organisation. */
async function head(): Promise<string> {
  const { changes } = await createClient(ChangesService, place.api.transport).listChanges({
    parentPath: acme,
    pageSize: 1,
  });
  return changes[0]?.revision ?? "";
}

test("an organisation is put back to a moment of its log, after what that changes and for whom", async () => {
  const { groups, groupMembers, members, projects } = place.api;
  const { path: nyx } = await members.createMember({ parentPath: acme, member: { name: "nyx" } });
  const group = { name: "night-watch", displayName: "Night watch" };
  const { path: watch } = await groups.createGroup({ parentPath: acme, group });
  await groupMembers.createGroupMember({ parentPath: watch, groupMember: { memberPath: nyx } });
  const project = { name: "tunnel", displayName: "Painted tunnel" };
  const { path: tunnel } = await projects.createProject({ parentPath: acme, project });
  const binding = { name: "watch-tunnel", rolePath: "/roles/viewer", subjectPath: watch };
  await place.api.roleBindings.createRoleBinding({ parentPath: tunnel, roleBinding: binding });
  await groups.deleteGroup({ path: watch });
  const update = { path: tunnel, project: { displayName: "Wall" }, updateMask: { paths: ["display_name"] } };
  await projects.updateProject(update);
  await members.createMember({ parentPath: acme, member: { name: "intruder" } });

  const { page, open, problems } = await place.signIn(wile);
  await open(`${acme}/changes?state=CREATED`);
  await page
    .getByRole("row", { name: /watch-tunnel/ })
    .getByRole("link")
    .first()
    .click();
  await page.waitForURL(/revision=/);
  await page.getByRole("link", { name: "Put back to then" }).click();
  await page.getByRole("heading", { level: 1, name: "Put back" }).waitFor();
  const table = page.getByRole("table", { name: "What is changed" });
  await table.getByRole("row", { name: "Create again groups/night-watch", exact: true }).waitFor();
  await table.getByRole("row", { name: /Change projects\/tunnel/ }).waitFor();
  expect(await table.locator("del, ins").allTextContents()).toEqual(['"Wall"', '"Painted tunnel"']);
  await table.getByRole("row", { name: "Delete members/intruder", exact: true }).waitFor();
  const preview = page.getByRole("status", { name: "What this would change" });
  await preview.getByText("1 member gains permissions.").waitFor();
  await page.getByRole("button", { name: /^Put back \(\d changes\)$/ }).click();
  await page.getByText(/^It is put back, by \d changes\./).waitFor();
  const lists = await groups.listGroups({ parentPath: acme });
  expect(lists.groups.map(({ name }) => name)).toContain("night-watch");
  expect((await projects.getProject({ path: tunnel })).displayName).toBe("Painted tunnel");
  await page.getByRole("link", { name: "See them" }).click();
  await page
    .getByRole("row", { name: /night-watch/ })
    .first()
    .waitFor();
  await open(`${acme}/rollback?to=${await head()}`);
  await page.getByText("Nothing is different from then.").waitFor();
  expect(problems).toEqual([]);
});

test("what cannot be put back is named, and left out if that is wanted", async () => {
  const { groups, webhooks } = place.api;
  const webhook = { name: "audit", url: "https://audit.example.com/" };
  const { path } = await webhooks.createWebhook({ parentPath: acme, webhook });
  const to = await head();
  await webhooks.deleteWebhook({ path });
  await groups.createGroup({ parentPath: acme, group: { name: "since-then" } });
  const { page, open, problems } = await place.signIn(wile);
  await open(`${acme}/rollback?to=${to}`);
  await page.getByText("webhooks/audit was deleted since with its secret, and cannot be made again").waitFor();
  expect(await page.getByRole("button", { name: /^Put back/ }).count()).toBe(0);
  await page.getByRole("link", { name: "Leave out what cannot be put back" }).click();
  await page.getByRole("heading", { name: "What stays different" }).waitFor();
  expect(new URL(page.url()).searchParams.get("leaveOut")).toBe("true");
  await page.getByRole("button", { name: "Put back (1 change)" }).click();
  await page.getByText("It is put back, by 1 change.").waitFor();
  expect(problems).toEqual([]);
});

test("a moment that is none, or of the future, is refused at its field", async () => {
  const { page, open, problems } = await place.signIn(wile);
  await open(`${acme}/rollback`);
  await page.getByLabel("Or back to a revision").fill("then");
  await page.getByRole("button", { name: "Show what changes" }).click();
  await page.locator(".moment .field-error").waitFor();
  expect(new URL(page.url()).searchParams.get("to")).toBe("then");
  await page.getByLabel("Or back to a revision").fill("");
  await page.getByLabel("Back to a time", { exact: true }).fill("2999-12-31T12:00");
  await page.getByRole("button", { name: "Show what changes" }).click();
  await page.getByText("must not be in the future").waitFor();
  expect(problems).toEqual([]);
});

test("somebody who may not put back is told so, and by whom it can be done", async () => {
  const roleBinding = { name: "dave-views", rolePath: "/roles/viewer", subjectPath: `${acme}/members/dave` };
  await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
  const { page, open, problems } = await place.signIn(`${acme}/members/dave`);
  await open(`${acme}/rollback?to=2026-03-01T12:00:00Z`);
  const button = page.getByRole("button", { name: "Put back" });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
  // Playwright does not click what is aria-disabled.
  await button.press("Enter");
  const reason = page.getByRole("dialog", { name: "You may not do this" });
  await reason.getByText("iam.orgs.rollback").waitFor();
  await reason.getByRole("link", { name: "wile" }).waitFor();
  expect(problems).toEqual([]);
});
