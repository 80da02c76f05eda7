// What people do in the console with roles: each test is a job.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";

let place: ConsolePlace;
beforeAll(async () => {
  place = await openConsolePlace();
});
afterAll(() => place.close());

const acme = "/orgs/acme";
const wile = `${acme}/members/wile`;

describe("roles", () => {
  test("are created from permissions that patterns and words find, also of services that are not known", async () => {
    const { page, open, problems } = await place.signIn(wile);
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
    const { page, open, problems } = await place.signIn(wile);
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
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Show what changes" }).click();
    await page.getByText("1 member loses permissions.").waitFor();
    await page.getByRole("dialog", { name: "Delete watcher?" }).getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(`${place.url}/console${acme}/roles`);
    await expect(place.api.roles.getRole({ path })).rejects.toThrow("there is no role");
    expect(problems).toEqual([]);
  });
});
