// What people do in the console with quota, of customers, orgs and projects. Each test is a job.
import { createClient } from "@connectrpc/connect";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuotaRequestsService } from "../../gen/iam/v1alpha/quota_request_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { focusOn } from "./focus-on.ts";
import { useQuantities } from "./used-quantities.ts";

const acme = "/orgs/acme";
const webShop = `${acme}/projects/web-shop`;

let place: ConsolePlace;
let customer: string;
/** Owns the org, and nothing above it. */
let wile: ConsolePage;
/** Owns the customer. */
let boss: ConsolePage;
beforeAll(async () => {
  place = await openConsolePlace();
  customer = await useQuantities(place.api);
  const { path } = await place.api.members.createMember({ parentPath: acme, member: { name: "boss" } });
  const roleBinding = { name: "boss-owns", rolePath: "/roles/owner", subjectPath: path };
  await place.api.roleBindings.createRoleBinding({ parentPath: customer, roleBinding });
  wile = await place.signIn(`${acme}/members/wile`, { staysOpen: true });
  boss = await place.signIn(path, { staysOpen: true });
});
afterAll(() => place.close());

const limitsOf = async (parentPath: string): Promise<Record<string, number>> =>
  (await createClient(QuotasService, place.api.transport).getQuota({ parentPath })).limits;

/** What a row of the table says between the kind and the buttons. */
async function cellsOf(page: Page, kind: string): Promise<string[]> {
  const cells = await page
    .getByRole("row", { name: kind })
    .locator("td:not(:has(.meter)), .meter-value")
    .allTextContents();
  return cells.slice(1, -1);
}

describe("a quota", () => {
  test("is shown at each level, with what is left and which limit that comes from", async () => {
    const { page, open, problems } = boss;
    await open(`${webShop}/quota`);
    await expect
      .poll(() => cellsOf(page, "CPU cores"))
      .toEqual(["4 of 10", "4 of 40", "4 of 100", "6 by the limit of the project"]);
    const [here, inOrg, , left] = await cellsOf(page, "Memory");
    expect([here, inOrg, left]).toEqual(["16 GiB", "16 GiB of 64 GiB", "48 GiB by the limit of the organisation"]);
    expect(problems).toEqual([]);
  });

  test("says which level somebody may not see, and asks nothing about it that is refused", async () => {
    const { page, open, problems } = wile;
    const refused: string[] = [];
    page.on("response", (response) => response.status() === 403 && refused.push(response.url()));
    await open(`${webShop}/quota`);
    await page.getByText("You may not see the quota of the customer. It can leave less.").waitFor();
    await expect
      .poll(() => cellsOf(page, "CPU cores"))
      .toEqual(["4 of 10", "4 of 40", "6 by the limit of the project"]);
    expect([refused, problems]).toEqual([[], []]);
  });

  test("of a kind is shown for each project, which are searched for on the server", async () => {
    const { page, open, problems } = wile;
    await open(`${acme}/quota`);
    await page.getByRole("link", { name: "CPU cores" }).click();
    await page.waitForURL(/\/quota\?kind=cpu_cores$/);
    const table = page.getByRole("table", { name: "By project" });
    await table.getByRole("row", { name: /Web shop 4 of 10/ }).waitFor();
    await page.getByRole("searchbox", { name: "Search projects" }).fill("rock");
    await expect.poll(() => table.getByRole("row").count()).toBe(2);
    await table.getByRole("link", { name: "rockets" }).click();
    await page.waitForURL(`${place.url}/console${acme}/projects/rockets/quota`);
    await page.getByRole("heading", { name: "Quota of rockets" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("of a customer is shown for each of its organisations", async () => {
    const { page, open, problems } = boss;
    await open(`${customer}/quota?kind=cpu_cores`);
    await page.getByRole("row", { name: /Acme Ltd 4 of 40/ }).waitFor();
    await page.getByRole("link", { name: "Acme Ltd", exact: true }).click();
    await page.waitForURL(`${place.url}/console${acme}/quota?kind=cpu_cores`);
    await page.getByRole("table", { name: "By project" }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe("a limit", () => {
  test("is set and lowered with the keyboard alone, with units, by somebody who may not raise it", async () => {
    const { page, open, problems } = wile;
    await open(`${acme}/projects/anvils/quota`);
    await page.getByRole("button", { name: "Set the limit of Memory" }).waitFor();
    await focusOn(page, "Set the limit of Memory");
    await page.keyboard.press("Enter");
    await focusOn(page, "Limit");
    await page.keyboard.type("some");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Limit of Memory" });
    await dialog.getByText('must be a number, got "some"').waitFor();
    expect(await dialog.getByRole("textbox", { name: "Limit" }).getAttribute("aria-invalid")).toBe("true");
    await dialog.getByRole("textbox", { name: "Limit" }).fill("1.5");
    await dialog.getByRole("combobox", { name: "Unit" }).selectOption("TiB");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /Memory 0 of 1.5 TiB/ }).waitFor();
    expect(await limitsOf(`${acme}/projects/anvils`)).toEqual({ memory: 1.5 * 1024 ** 4 });
    await open(`${acme}/quota`);
    await page.getByRole("button", { name: "Change the limit of CPU cores" }).click();
    const cores = page.getByRole("dialog", { name: "Limit of CPU cores" });
    await cores.getByText("You may set a limit and lower it.").waitFor();
    await cores.getByRole("textbox", { name: "Limit" }).fill("1000");
    await cores.getByRole("button", { name: "Save" }).click();
    await cores
      .getByRole("alert")
      .getByText(/may lower the limits of \/orgs\/acme but not raise/)
      .waitFor();
    await cores.getByRole("textbox", { name: "Limit" }).fill("30");
    await cores.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /CPU cores 4 of 30/ }).waitFor();
    expect(await limitsOf(acme)).toEqual({ cpu_cores: 30, memory: 64 * 1024 ** 3 });
    expect(problems).toEqual([]);
  });

  test("is not offered to somebody who may only read, who is told why not", async () => {
    const roleBinding = { name: "erin-reads", rolePath: "/roles/viewer", subjectPath: `${acme}/members/erin` };
    await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
    const { page, open } = await place.signIn(`${acme}/members/erin`);
    await open(`${acme}/quota`);
    const button = page.getByRole("button", { name: "Change the limit of CPU cores" });
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
    const reason = page.getByRole("dialog", { name: "You may not do this" }).getByText("iam.quotas.update");
    // A list that is read again replaces its buttons, and the key goes nowhere.
    await expect
      .poll(async () => {
        if (!(await reason.isVisible())) await button.press("Enter");
        return reason.isVisible();
      })
      .toBe(true);
  });
});

test("more quota is asked for, granted in part by somebody who may raise the limit, and withdrawn", async () => {
  const { page, open, problems } = wile;
  await open(`${acme}/quota`);
  await page.getByRole("button", { name: "Ask for more Memory" }).click();
  const dialog = page.getByRole("dialog", { name: "Ask for more" });
  await dialog.getByRole("textbox", { name: "New limit" }).fill("64");
  await dialog.getByRole("textbox", { name: "Why" }).fill("For the sale");
  await dialog.getByRole("button", { name: "Ask for more" }).click();
  await dialog.getByText(/must be above 68719476736, the present limit/).waitFor();
  await dialog.getByRole("textbox", { name: "New limit" }).fill("128");
  await dialog.getByRole("button", { name: "Ask for more" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Requests for quota" }).click();
  const row = page.getByRole("row", { name: /Memory 128 GiB.*For the sale/ });
  await row.getByText("Waiting").waitFor();
  const approve = row.getByRole("button", { name: /^Approve/ });
  await expect.poll(() => approve.getAttribute("aria-disabled")).toBe("true");
  await row.getByRole("link", { name: "Memory 128 GiB" }).click();
  await page.waitForURL(new RegExp(`/console${acme}/quotaRequests/more-memory-\\d+$`));
  const address = page.url();
  await page.getByRole("row", { name: "Memory 16 GiB 64 GiB 128 GiB" }).waitFor();
  await page.getByText("For the sale").waitFor();
  await page.getByRole("link", { name: "All requests" }).click();
  await row.waitFor();

  await boss.open(acme);
  await boss.page.getByText("Memory 128 GiB").waitFor();
  await boss.page.getByRole("button", { name: /^Approve/ }).click();
  const decision = boss.page.getByRole("dialog", { name: "Approve" });
  await decision.getByRole("textbox", { name: "Memory" }).fill("96");
  await decision.getByRole("textbox", { name: "What to tell the member" }).fill("Until January");
  await decision.getByRole("button", { name: "Approve" }).click();
  await decision.waitFor({ state: "detached" });
  expect(await limitsOf(acme)).toMatchObject({ memory: 96 * 1024 ** 3 });

  await boss.page.goto(address);
  await boss.page.getByRole("row", { name: "Memory 16 GiB 96 GiB 128 GiB 96 GiB" }).waitFor();
  await boss.page.getByText("Until January").waitFor();
  await row.getByText("Approved").waitFor();
  await row.getByText("Until January").waitFor();
  await page.getByRole("button", { name: "Ask for more" }).click();
  const ofWhat = dialog.getByRole("combobox", { name: "Of what" });
  await ofWhat.click();
  await page.getByRole("option", { name: "Web shop" }).waitFor();
  // The service has not said yet what it finds, so Enter takes what has the words, and not what was first before.
  await page.route("**/ListProjects*", () => undefined);
  await ofWhat.pressSequentially("Web shop");
  await ofWhat.press("Enter");
  await page.unroute("**/ListProjects*");
  await expect.poll(() => page.locator('input[type="hidden"][name="quota_path"]').inputValue()).toBe(webShop);
  await dialog.getByRole("combobox", { name: "Kind" }).fill("cores");
  await page.getByRole("option", { name: "CPU cores" }).click();
  await dialog.getByRole("textbox", { name: "New limit" }).fill("12");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("shop-cores");
  await dialog.getByRole("button", { name: "Ask for more" }).click();
  await page.getByRole("button", { name: "Withdraw shop-cores" }).click();
  await page.getByRole("dialog", { name: "Withdraw shop-cores?" }).getByRole("button", { name: "Withdraw" }).click();
  await page.getByRole("row", { name: /shop-cores/ }).waitFor({ state: "detached" });
  await page.getByRole("combobox", { name: "State" }).selectOption("Rejected");
  await page.getByText("No request is like that.").waitFor();
  expect(problems).toEqual([]);
});

test("one request is reached from the log of changes, withdrawn, and not decided by who may not read the organisation", async () => {
  const requests = createClient(QuotaRequestsService, place.api.transport);
  const quotaRequest = { name: "more-ram", quotaPath: `${acme}/quota`, limits: { memory: 200 * 1024 ** 3 } };
  await requests.createQuotaRequest({ parentPath: acme, quotaRequest });
  const { path: clerk } = await place.api.members.createMember({ parentPath: acme, member: { name: "clerk" } });
  const permissions = ["get", "list", "approve", "reject"].map((verb) => `iam.quotaRequests.${verb}`);
  const { path: rolePath } = await place.api.roles.createRole({
    parentPath: acme,
    role: { name: "decides", permissions },
  });
  const roleBinding = { name: "clerk-decides", rolePath, subjectPath: clerk };
  await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
  const { page, open } = await place.signIn(clerk);
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url().split("/").at(-1) ?? ""));
  await open(`${acme}/quotaRequests/more-ram`);
  await page.getByRole("row", { name: "Memory 200 GiB" }).waitFor();
  const approve = page.getByRole("button", { name: "Approve more-ram" });
  await expect.poll(() => approve.getAttribute("aria-disabled")).toBe("true");
  await approve.press("Enter");
  await page.getByRole("dialog", { name: "You may not do this" }).getByText("iam.orgs.get").waitFor();
  expect([sent.includes("TestPermissions"), sent.includes("GetOrg")]).toEqual([true, false]);

  await wile.open(`${acme}/changes`);
  await wile.page.getByRole("link", { name: "more-ram" }).click();
  await wile.page.waitForURL(`${place.url}/console${acme}/quotaRequests/more-ram`);
  await wile.page.getByRole("button", { name: "Withdraw" }).click();
  const question = wile.page.getByRole("dialog", { name: "Withdraw more-ram?" });
  await question.getByRole("button", { name: "Withdraw" }).click();
  await wile.page.waitForURL(`${place.url}/console${acme}/quotaRequests`);
  await expect(requests.getQuotaRequest({ path: `${acme}/quotaRequests/more-ram` })).rejects.toThrow(/not/);
});

test("who may decide can do so although the organisation could not be read at first", async () => {
  const requests = createClient(QuotaRequestsService, place.api.transport);
  const quotaRequest = { name: "more-disks", quotaPath: `${acme}/quota`, limits: { memory: 300 * 1024 ** 3 } };
  const { path } = await requests.createQuotaRequest({ parentPath: acme, quotaRequest });
  const { page, open } = boss;
  let failures = 0;
  await page.route("**/GetOrg", async (route) => {
    failures += 1;
    await route.fulfill({ status: 500, json: { code: "internal", message: "not now" } });
  });
  await open(path);
  await expect.poll(() => failures).toBeGreaterThan(0);
  const approve = page.getByRole("button", { name: "Approve more-disks" });
  expect(await approve.isDisabled()).toBe(true);
  await page.unroute("**/GetOrg");
  await expect.poll(() => approve.isEnabled()).toBe(true);
  await requests.deleteQuotaRequest({ path });
});

test("kinds are searched for and paged on the server", async () => {
  const requests = Array.from({ length: 120 }, (_, index) => ({
    quantityKind: { name: `licence_${index}`, displayName: `Licence ${index}`, unit: "seat" },
  }));
  await place.api.quantityKinds.batchCreateQuantityKinds({ requests });
  await place.api.quantityKinds.createQuantityKind({ quantityKind: { name: "constructor", unit: "house" } });
  const { page, open, problems } = wile;
  await open(`${acme}/quota`);
  await page.getByText("100 shown").waitFor();
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByText("23 shown").waitFor();
  await page.getByRole("searchbox", { name: "Search kinds" }).fill("licence_77");
  await page.getByText("1 shown").waitFor();
  await page.getByRole("row", { name: /Licence 77 no limit/ }).waitFor();
  await page.getByRole("searchbox", { name: "Search kinds" }).fill("constructor");
  await page.getByRole("row", { name: /constructor no limit/ }).waitFor();
  expect(problems).toEqual([]);
});
