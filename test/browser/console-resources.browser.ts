// What people do in the console with resources and operations; the tests are the provider. Each test is a job.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import { createTransport } from "../support/transports.ts";
import { instances, openCloudOfAcme, volumes, web } from "./cloud-of-acme.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { focusOn } from "./focus-on.ts";
import { pick } from "./pick.ts";
import { shellCommands } from "./shell-commands.ts";

const acme = "/orgs/acme";
const everywhere = `${acme}/projects/-`;

let place: ConsolePlace;
let cloud: Awaited<ReturnType<typeof openCloudOfAcme>>;
/** Of somebody who may do all that is here. */
let window: ConsolePage;
beforeAll(async () => {
  place = await openConsolePlace();
  cloud = await openCloudOfAcme(place);
  window = await place.signIn(`${acme}/members/wile`, { staysOpen: true });
});
afterAll(() => place.close());

describe("resources", () => {
  test("of all projects are found by words, type and state, which the URL holds", async () => {
    await cloud.create("front", {
      displayName: "<b>Front</b>",
      quantities: { cpu_cores: 1.5, ram: 2 ** 31 },
      parameters: { image: "debian-12", protected: true, disks: [{ size: 4 }] },
    });
    await cloud.complete({ cpu_cores: 2 });
    await cloud.create("archive", { typePath: volumes, quantities: {}, parameters: {} });
    const { page, open, problems } = window;
    await open(acme);
    await page.getByRole("link", { name: "Resources", exact: true }).click();
    await page.waitForURL(`${place.url}/console${everywhere}/resources`);
    await page.getByRole("row", { name: /archive Volumes Web shop Being created/ }).waitFor();
    await page.getByRole("row", { name: /<b>Front<\/b> Instances Web shop Active 2 2 GiB/ }).waitFor();
    const heads = (): Promise<string[]> => page.getByRole("columnheader").allTextContents();
    const [before, after] = [
      ["Name", "Type", "Project", "State"],
      ["Created", "More"],
    ];
    await expect.poll(heads).toEqual([...before, "CPU cores (core)", "Memory", ...after]);
    await page.getByRole("combobox", { name: "Type" }).selectOption("Volumes");
    await expect.poll(heads).toEqual([...before, ...after]);
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
    await page.getByRole("definition").filter({ hasText: "debian-12" }).first().waitFor();
    await page.getByRole("term").filter({ hasText: "Image" }).waitFor();
    await page.getByRole("definition").filter({ hasText: /^Yes$/ }).waitFor();
    await page.getByText('"size": 4').waitFor();
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
    const commands = (await shellCommands(page, "curl")).join("\n");
    expect(commands).toContain(`${place.url}/resources/v1alpha${web}/operations?page_size=20`);
    expect(problems).toEqual([]);
  });

  test("are deleted for ever before their time", async () => {
    await cloud.create("scrap", { typePath: volumes, quantities: {}, parameters: {} });
    await cloud.complete();
    const path = `${web}/resources/scrap`;
    const { id } = await cloud.resources.getResource({ path });
    await cloud.resources.deleteResource({ path });
    await cloud.complete();
    const { page, open } = window;
    await open(`${web}/resources/@${id}`);
    await page.getByRole("button", { name: "Delete for ever" }).click();
    const question = page.getByRole("dialog", { name: "Delete for ever scrap" });
    await question.getByRole("button", { name: "Delete for ever" }).click();
    await page.getByRole("heading", { name: "purge scrap" }).waitFor();
    await cloud.complete();
    await page.getByText("Done").waitFor();
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

describe("an operation that a type defines", () => {
  test("is begun by a form of what it takes, which has what the resource has and says what is left", async () => {
    await cloud.create("grows");
    await cloud.complete();
    const { page, open, problems } = window;
    await open(`${web}/resources/grows`);
    await page.getByRole("button", { name: "Resize", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Resize grows" });
    await dialog.getByText("Gives it more or less.").waitFor();
    const cores = dialog.getByRole("textbox", { name: "CPU cores (core, required)" });
    expect(await cores.inputValue()).toBe("2");
    expect(await dialog.getByRole("textbox", { name: "Memory" }).inputValue()).toBe("1");
    await cores.fill("65");
    await dialog.getByRole("button", { name: "Show what is left" }).click();
    await dialog.getByText("must be a multiple of 0.5 from 0 to 64, got 65").waitFor();
    await cores.fill("4");
    await dialog.getByRole("button", { name: "Show what is left" }).click();
    await dialog.getByRole("status", { name: "What is left then" }).waitFor();
    await dialog.getByRole("button", { name: "Resize", exact: true }).click();
    await page.getByRole("heading", { name: "resize grows", exact: true }).waitFor();
    const claim = await cloud.claim();
    expect(claim.operation?.quantities).toEqual({ cpu_cores: 4, ram: 2 ** 30 });
    await cloud.provider.completeOperation(cloud.present(claim));
    await page.getByText("Done").waitFor();
    expect(problems).toEqual([]);
  });

  test("runs beside others if it is concurrent, and uses and lets go of another resource", async () => {
    await cloud.create("shelf", { typePath: volumes, quantities: {}, parameters: {} });
    await cloud.complete();
    await cloud.create("holder");
    await cloud.complete();
    const path = `${web}/resources/holder`;
    await cloud.resources.runResource({ path, operation: "snapshot" });
    const { page, open } = window;
    await open(path);
    await page.getByRole("button", { name: "Attach", exact: true }).click();
    expect(await page.getByRole("button", { name: "Resize", exact: true, includeHidden: true }).count()).toBe(0);
    const dialog = page.getByRole("dialog", { name: "Attach holder" });
    await pick(page, "volume", "shelf");
    await dialog.getByRole("button", { name: "Attach", exact: true }).click();
    await page.getByRole("heading", { name: "attach holder", exact: true }).waitFor();
    await cloud.complete();
    await cloud.complete();
    await page.getByText("Done").waitFor();
    const { id } = await cloud.resources.getResource({ path: `${web}/resources/shelf` });
    const { references } = await cloud.resources.getResource({ path });
    expect(references).toEqual({ volume: expect.stringMatching(new RegExp(`/resources/@${id}$`)) });
    await page.getByRole("link", { name: "holder", exact: true }).click();
    await page.getByRole("button", { name: "Attach", exact: true }).click();
    const volume = dialog.getByRole("combobox", { name: "volume" });
    await expect.poll(() => volume.inputValue()).toBe("shelf");
    await volume.fill("");
    await dialog.getByRole("button", { name: "Attach", exact: true }).click();
    await page.getByRole("heading", { name: "attach holder", exact: true }).waitFor();
    await cloud.complete();
    await page.getByText("Done").waitFor();
    expect((await cloud.resources.getResource({ path })).references).toEqual({});
  });

  test("is in a menu if its type has many, which says why one would be refused", async () => {
    const verbs = ["start", "stop", "reboot", "rescue"];
    await cloud.types.createResourceType({
      parentPath: "/services/compute",
      resourceType: {
        name: "engines",
        collection: "engines",
        operations: ["create", "delete", ...verbs].map((verb) => ({ verb })),
      },
    });
    await cloud.create("motor", {
      typePath: "/services/compute/resourceTypes/engines",
      quantities: {},
      parameters: {},
    });
    await cloud.complete();
    const permissions = ["compute.engines.get", "compute.engines.reboot", "resources.operations.get"];
    const { path: rolePath } = await place.api.roles.createRole({
      parentPath: acme,
      role: { name: "reboots", permissions },
    });
    const roleBinding = { name: "carol-reboots", rolePath, subjectPath: `${acme}/members/carol` };
    await place.api.roleBindings.createRoleBinding({ parentPath: web, roleBinding });
    const { page, open, problems } = await place.signIn(`${acme}/members/carol`);
    await open(`${web}/resources/motor`);
    const menu = page.getByRole("button", { name: "Operations", exact: true });
    await focusOn(page, "Operations▾");
    await page.keyboard.press("Enter");
    const popup = page.getByRole("dialog", { name: "Operations" });
    await expect.poll(() => popup.getByRole("button").allTextContents()).toEqual(["Start", "Stop", "Reboot", "Rescue"]);
    const stop = popup.getByRole("button", { name: "Stop" });
    await expect.poll(() => stop.getAttribute("aria-disabled")).toBe("true");
    await stop.press("Enter");
    await page.getByRole("dialog", { name: "You may not do this" }).getByText("compute.engines.stop").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await popup.waitFor({ state: "detached" });
    await menu.click();
    await popup.getByRole("button", { name: "Reboot" }).click();
    await page.getByRole("dialog", { name: "Reboot motor" }).getByRole("button", { name: "Reboot" }).click();
    await page.getByRole("heading", { name: "reboot motor", exact: true }).waitFor();
    await cloud.complete();
    expect(problems).toEqual([]);
  });

  test("is found among those of its resource, also an old one", async () => {
    await cloud.create("busy");
    await cloud.complete();
    const path = `${web}/resources/busy`;
    for (let count = 0; count < 20; count += 1) {
      await cloud.resources.runResource({ path, operation: "snapshot" });
      await cloud.complete();
    }
    const { page, open, problems } = window;
    await open(path);
    await page.getByText("20 shown").waitFor();
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("row", { name: /^create Done/ }).waitFor();
    await page.getByText("1 shown").waitFor();
    expect(new URL(page.url()).searchParams.has("page")).toBe(true);
    expect(problems).toEqual([]);
  });
});

describe("a new resource", () => {
  test("keeps an amount that was typed before its unit was known", async () => {
    const { page, open, problems } = window;
    const typed = Promise.withResolvers<void>();
    await page.route("**/ListQuantityKinds", async (route) => {
      await typed.promise;
      await route.continue();
    });
    await open(`${web}/resources`);
    await page.getByRole("button", { name: "New resource" }).click();
    const dialog = page.getByRole("dialog", { name: "New resource" });
    await dialog.getByRole("combobox", { name: "Type" }).selectOption("Instances");
    await dialog.getByRole("textbox", { name: "ram" }).fill("2147483648");
    typed.resolve();
    const unit = dialog.getByRole("combobox", { name: "Unit of Memory" });
    expect(await unit.inputValue()).toBe("0");
    expect(await dialog.getByRole("textbox", { name: "Memory" }).inputValue()).toBe("2147483648");
    expect(problems).toEqual([]);
  });

  test("is made by a form of its type, which says what is left in each quota, and its operation can be left", async () => {
    const quotas = createClient(QuotasService, createTransport("gRPC", place.url, place.operatorKey));
    for (const [parentPath, cores] of [
      [web, 60],
      [acme, 70],
    ] as const)
      await quotas.updateQuota({ parentPath, quota: { limits: { cpu_cores: cores } } });
    const { usage } = await quotas.getQuota({ parentPath: web });
    const { page, open, problems } = window;
    await open(`${web}/resources`);
    await page.getByRole("button", { name: "New resource" }).click();
    const dialog = page.getByRole("dialog", { name: "New resource" });
    await dialog.getByRole("combobox", { name: "Type" }).selectOption("Instances");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("api");
    await dialog.getByRole("textbox", { name: "CPU cores" }).fill("61");
    await dialog.getByRole("textbox", { name: "Memory" }).fill("2 GiB");
    await dialog.getByRole("button", { name: "Show what is left" }).click();
    await dialog.getByText('must be a number, got "2 GiB"').waitFor();
    await dialog.getByRole("textbox", { name: "Memory" }).fill("2048");
    await dialog.getByRole("combobox", { name: "Unit of Memory" }).selectOption("MiB");
    await dialog.getByRole("combobox", { name: "zone" }).selectOption("b");
    await dialog.getByRole("combobox", { name: "protected" }).selectOption("Yes");
    const disks = dialog.getByRole("textbox", { name: "disks" });
    await disks.fill('[{ "size": "small" }]');
    await dialog.getByRole("button", { name: "Show what is left" }).click();
    await dialog.getByText("must have required property").waitFor();
    await dialog.getByText(/^\[0\]\.size: must be integer/).waitFor();
    await disks.fill("[{");
    await dialog.getByRole("button", { name: "Show what is left" }).click();
    await dialog.getByText(/^must be JSON: /).waitFor();
    expect(await disks.getAttribute("aria-invalid")).toBe("true");
    await disks.fill('[{ "size": 4 }]');
    await dialog.getByRole("textbox", { name: "Image" }).fill("debian-12");
    await dialog.getByRole("button", { name: "Show what is left" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/cpu_cores/)
      .waitFor();
    await dialog.getByRole("textbox", { name: "CPU cores" }).fill("2");
    await dialog.getByRole("button", { name: "Show what is left" }).click();
    const left = 58 - (usage["cpu_cores"] ?? 0);
    await dialog.getByRole("row", { name: `Project Web shop CPU cores ${left} of 60` }).waitFor();
    await dialog.getByRole("row", { name: /Organisation CPU cores \d+ of 70/ }).waitFor();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "create api" }).waitFor();
    const address = page.url();
    await page.getByRole("link", { name: "Members", exact: true }).click();
    const claim = await cloud.claim();
    expect(claim.resource).toMatchObject({
      quantities: { cpu_cores: 2, ram: 2 ** 31 },
      parameters: { image: "debian-12", zone: "b", protected: true, boot: { delay: 5 }, disks: [{ size: 4 }] },
    });
    await page.goto(address);
    await page.getByText("Running").waitFor();
    await cloud.provider.completeOperation(cloud.present(claim));
    await page.getByText("Done").waitFor();
    expect(problems).toEqual([]);
  });

  test("uses another one, with the keyboard alone", async () => {
    await cloud.create("logs", { typePath: volumes, quantities: {}, parameters: {} });
    await cloud.complete();
    const { page, open } = window;
    await open(`${web}/resources`);
    await page.getByRole("button", { name: "New resource" }).waitFor();
    await focusOn(page, "New resource");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    for (const [field, typed] of [
      ["Name", "reader"],
      ["Type", "I"],
      ["CPU cores (core, required)", "1"],
    ] as const) {
      await focusOn(page, field);
      await page.keyboard.type(typed);
    }
    await focusOn(page, "volume");
    await page.keyboard.type("logs");
    // What was found comes first, with its name, and then what was typed.
    await expect.poll(() => page.getByRole("option").allTextContents()).toEqual(["logslogs", "logs"]);
    await page.keyboard.press("Enter");
    await focusOn(page, "Image (required)");
    await page.keyboard.type("debian-12");
    await page.keyboard.press("Enter");
    await page.getByRole("status", { name: "What is left then" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "create reader" }).waitFor();
    const { operation } = await cloud.claim();
    const { id } = await cloud.resources.getResource({ path: `${web}/resources/logs` });
    expect(operation?.references).toEqual({ volume: expect.stringMatching(new RegExp(`/resources/@${id}$`)) });
  });

  test("is of a type that the person may create", async () => {
    const { path: member } = await place.api.members.createMember({ parentPath: acme, member: { name: "storer" } });
    const permissions = ["iam.orgs.get", "iam.projects.get", "compute.volumes.list", "compute.volumes.create"];
    const role = { name: "stores", permissions };
    const { path: rolePath } = await place.api.roles.createRole({ parentPath: acme, role });
    const roleBinding = { name: "storer-stores", rolePath, subjectPath: member };
    await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
    const { page, open } = await place.signIn(member);
    await open(`${web}/resources`);
    await page.getByRole("button", { name: "New resource" }).click();
    const type = page.getByRole("dialog").getByRole("combobox", { name: "Type" });
    await expect.poll(() => type.locator("option").allTextContents()).toEqual(["Volumes"]);
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
    await expect.poll(() => page.getByRole("button", { name: "Cancel the operation" }).count()).toBe(0);
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

test("the catalog leads from a service to its types, and says what their operations take and need", async () => {
  const { page, open, problems } = window;
  await open(`${web}/resources`);
  await page.getByRole("link", { name: "Catalog" }).click();
  await page.waitForURL(`${place.url}/console/services`);
  await page.getByRole("searchbox", { name: "Search services" }).fill("comp");
  await page.getByRole("link", { name: "Compute" }).click();
  await page.getByRole("row", { name: /Volumes create, delete, undelete, purge/ }).waitFor();
  await page.getByRole("link", { name: "Instances" }).click();
  await page.waitForURL(`${place.url}/console${instances}`);
  const create = page.getByRole("row", { name: /^create / });
  await create.getByText("CPU cores (required) in core, at most 64").waitFor();
  await create.getByText("Memory in byte, 1 GiB if empty").waitFor();
  await create.getByText("compute.instances.create").waitFor();
  await create.getByRole("link", { name: "Volumes" }).waitFor();
  await page.getByText('"additionalProperties": false').waitFor();
  await page.getByRole("link", { name: "Compute" }).click();
  await page.getByRole("link", { name: "CPU cores" }).click();
  await page.waitForURL(`${place.url}/console/quantityKinds?q=cpu_cores`);
  await page.getByRole("row", { name: /CPU cores cpu_cores core 0.5/ }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  expect(problems).toEqual([]);
});
