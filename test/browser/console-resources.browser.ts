// What people do in the console with resources and operations; the tests are the provider. Each test is a job.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import { instances, openCloudOfAcme, volumes, web } from "./cloud-of-acme.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";

const acme = "/orgs/acme";
const everywhere = `${acme}/projects/-`;

let place: ConsolePlace;
let cloud: Awaited<ReturnType<typeof openCloudOfAcme>>;
/** Of somebody who may do all that is here. */
let window: ConsolePage;
beforeAll(async () => {
  place = await openConsolePlace();
  cloud = await openCloudOfAcme(place);
  window = await place.signIn(`${acme}/members/wile`);
});
afterAll(() => place.close());

describe("resources", () => {
  test("of all projects are found by words, type and state, which the URL holds", async () => {
    await cloud.create("front", { displayName: "<b>Front</b>", quantities: { cpu_cores: 1.5, ram: 2 ** 31 } });
    await cloud.complete({ cpu_cores: 2 });
    await cloud.create("archive", { typePath: volumes, quantities: {}, parameters: {} });
    const { page, open, problems } = window;
    await open(acme);
    await page.getByRole("link", { name: "Resources", exact: true }).click();
    await page.waitForURL(`${place.url}/console${everywhere}/resources`);
    await page.getByRole("row", { name: /archive Volumes Web shop Being created/ }).waitFor();
    await page
      .getByRole("row", { name: /<b>Front<\/b> Instances Web shop Active CPU cores: 2 Memory: 2 GiB/ })
      .waitFor();
    await page.getByRole("combobox", { name: "Type" }).selectOption("Instances");
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    expect(new URL(page.url()).searchParams.get("type")).toBe(instances);
    await page.getByRole("combobox", { name: "State" }).selectOption("Deleted");
    await page.getByText("No resource is like that.").waitFor();
    await page.getByRole("combobox", { name: "State" }).selectOption("Active");
    await page.getByRole("searchbox", { name: "Search resources" }).fill("front");
    await page.getByRole("link", { name: "<b>Front</b>" }).click();
    await page.waitForURL(`${place.url}/console${web}/resources/front`);
    await page.getByText("CPU cores: 2 (asked for 1.5)").waitFor();
    await page.getByText('"image": "debian-12"').waitFor();
    await page
      .getByRole("table", { name: "Operations" })
      .getByRole("row", { name: /create Done/ })
      .waitFor();
    await cloud.complete();
    expect(problems).toEqual([]);
  });

  test("are deleted and restored by operations whose progress and errors are seen", async () => {
    await cloud.create("disk", { typePath: volumes, quantities: {}, parameters: {} });
    await cloud.complete();
    const { page, open, problems } = window;
    await open(`${web}/resources/disk`);
    await page.getByRole("button", { name: "Delete" }).click();
    const question = page.getByRole("dialog", { name: "Delete disk?" });
    await question.getByText("It can be restored for a time").waitFor();
    await question.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(/\/operations\/@/);
    await page.getByRole("heading", { name: "delete disk" }).waitFor();
    const claim = await cloud.claim();
    const renewal = { ...cloud.present(claim), progressPercent: 40, progressMessage: "Wiping <i>blocks</i>" };
    await cloud.provider.renewOperation(renewal);
    await page.getByText("Wiping <i>blocks</i>").waitFor();
    const bar = page.getByRole("progressbar", { name: "Progress" });
    expect(await bar.getAttribute("aria-valuenow")).toBe("40");
    const address = page.url();
    await cloud.provider.failOperation({ ...cloud.present(claim), reason: "DISK_BUSY", message: "It is in use." });
    await page.getByText("DISK_BUSY").waitFor();
    await page.getByText("It is in use.").waitFor();
    await page.getByRole("link", { name: "disk", exact: true }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await question.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL((url) => url.pathname.includes("/operations/@") && url.toString() !== address);
    await cloud.complete();
    await page.getByText("Done").waitFor();
    await open(`${web}/resources?state=DELETED`);
    await page.getByRole("link", { name: "disk" }).click();
    await page.getByText("Gone for ever after").waitFor();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("dialog", { name: "Restore disk?" }).getByRole("button", { name: "Restore" }).click();
    await page.getByRole("heading", { name: "undelete disk" }).waitFor();
    await cloud.complete();
    await page.getByText("Done").waitFor();
    await page.getByRole("link", { name: "disk", exact: true }).click();
    await page.getByText("Active").waitFor();
    await page.getByText("The same with curl").click();
    const commands = (await page.locator(".curl code").allTextContents()).join("\n");
    expect(commands).toContain(`${place.url}/resources/v1alpha${web}/operations?page_size=50`);
    expect(problems).toEqual([]);
  });

  test("that others use are not deleted, and the service says what uses them", async () => {
    await cloud.create("data", { typePath: volumes, quantities: {}, parameters: {} });
    await cloud.complete();
    await cloud.create("database", { references: { volume: `${web}/resources/data` } });
    await cloud.complete();
    const { page, open } = window;
    await open(`${web}/resources/database`);
    await page.getByRole("link", { name: "data", exact: true }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page
      .getByRole("dialog")
      .getByRole("alert")
      .getByText(/database/)
      .waitFor();
  });

  test("are renamed for people", async () => {
    await cloud.create("cache");
    await cloud.complete();
    const { page, open } = window;
    await open(`${web}/resources/cache`);
    await page.getByRole("button", { name: "Change" }).click();
    await page.getByRole("textbox", { name: "Display name" }).fill("Cache of the shop");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Cache of the shop" }).waitFor();
  });
});

describe("operations", () => {
  test("are listed by state, and one that waits is cancelled", async () => {
    const { path } = await cloud.create("unwanted");
    const { page, open, problems } = window;
    await open(`${everywhere}/resources`);
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByRole("combobox", { name: "State" }).selectOption("Waiting");
    await page
      .getByRole("row", { name: /create unwanted Waiting/ })
      .getByRole("link", { name: "create" })
      .click();
    await page.waitForURL(`${place.url}/console${path}`);
    await page.getByRole("button", { name: "Cancel the operation" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the operation" }).click();
    await page.getByText("Cancelled").waitFor();
    expect((await cloud.operations.getOperation({ path })).state).toBe(Operation_State.CANCELLED);
    expect(await page.getByRole("button", { name: "Cancel the operation" }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("are not asked for by who may not read them, and buttons say what is missing", async () => {
    await cloud.create("closed");
    await cloud.complete();
    const { path: member } = await place.api.members.createMember({ parentPath: acme, member: { name: "looker" } });
    const role = {
      name: "looks-at-instances",
      permissions: ["iam.orgs.get", "iam.projects.get", "compute.instances.get", "compute.instances.list"],
    };
    const { path: rolePath } = await place.api.roles.createRole({ parentPath: acme, role });
    const roleBinding = { name: "looker-looks", rolePath, subjectPath: member };
    await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
    const { page, open } = await place.signIn(member);
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(response.url().split("/").at(-1) ?? "");
    });
    await open(`${web}/resources`);
    await page.getByRole("link", { name: "closed" }).click();
    await page.getByText("You may not see this.").waitFor();
    const button = page.getByRole("button", { name: "Delete" });
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
    expect(refused).toEqual([]);
    await button.press("Enter");
    const reason = page.getByRole("dialog", { name: "You may not do this" });
    await reason.getByText("compute.instances.delete", { exact: true }).waitFor();
  });
});
