// What people do in the console who look after a customer, or operate the platform. Each test is a job.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { QuotaRequestsService } from "../../gen/iam/v1alpha/quota_request_pb.ts";
import { pathsOf } from "../events/webhooks/place.ts";
import { accept, answerWith, startReceiver, webhookNetworks } from "../events/webhooks/receiver.ts";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { pick } from "./pick.ts";
import { useQuantities } from "./used-quantities.ts";

const acme = "/orgs/acme";

let place: ConsolePlace;
let customer: string;
/** Owns the customer, which has another org. */
let boss: string;
beforeAll(async () => {
  place = await openConsolePlace({ webhookNetworks });
  const { orgs, members, roleBindings } = place.api;
  customer = await useQuantities(place.api);
  await orgs.createOrg({ org: { name: "bolts", displayName: "Bolts & Nuts", customerPath: customer } });
  await orgs.createOrg({ org: { name: "elsewhere", displayName: "Of another customer" } });
  boss = (await members.createMember({ parentPath: acme, member: { name: "boss" } })).path;
  const roleBinding = { name: "boss-owns", rolePath: "/roles/owner", subjectPath: boss };
  await roleBindings.createRoleBinding({ parentPath: customer, roleBinding });
  const requests = createClient(QuotaRequestsService, place.api.transport);
  const quotaRequest = { name: "more-cores", quotaPath: `${acme}/quota`, limits: { cpu_cores: 64 } };
  await requests.createQuotaRequest({ parentPath: acme, quotaRequest });
});
afterAll(() => place.close());

test("a customer is reached from one of its organisations, with all of them, what they use, what changed and who has access", async () => {
  const { page, open, problems } = await place.signIn(boss);
  await open(acme);
  await page.getByRole("link", { name: /^Customer / }).click();
  await page.waitForURL(`${place.url}/console${customer}`);
  await page.getByText("4 of 100").waitFor();
  await page.getByText("CPU cores 64").waitFor();
  const table = page.getByRole("table", { name: "All that you may see" });
  await table.getByRole("link", { name: "Bolts & Nuts" }).waitFor();
  expect(await table.getByRole("row").count()).toBe(3);
  await page.getByRole("searchbox", { name: "Search organisations" }).fill("bolts");
  await expect.poll(() => table.getByRole("row").count()).toBe(2);
  expect(new URL(page.url()).search).toBe("?q=bolts");
  await place.api.members.createMember({ parentPath: "/orgs/bolts", member: { name: "nora" } });
  await page.getByRole("tab", { name: "Recent changes" }).click();
  await page
    .getByRole("listitem")
    .filter({ hasText: /created member nora in bolts/ })
    .waitFor();
  await page.getByRole("tab", { name: "Who has access" }).click();
  await page.getByRole("row", { name: /boss owner/ }).waitFor();
  expect(new URL(page.url()).search).toBe("?tab=access");
  expect(problems).toEqual([]);
});

test("the platform is searched and paged by its operator, with its customers and what waits in all organisations", async () => {
  const requests = Array.from({ length: 120 }, (_, index) => ({ org: { name: `shop-${index}` } }));
  await place.api.orgs.batchCreateOrgs({ requests });
  const { page, open, problems } = await place.signIn("/orgs/system/members/operator");
  await open("/");
  await page.getByRole("link", { name: "The whole platform" }).click();
  await page.getByText("100 shown").waitFor();
  await page.getByText("CPU cores 64").waitFor();
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByRole("link", { name: "First page" }).waitFor();
  await page.getByRole("searchbox", { name: "Search organisations" }).fill("shop-77");
  await page.getByText("1 shown").waitFor();
  await page.getByRole("tab", { name: "Customers" }).click();
  await page.getByRole("searchbox", { name: "Search customers" }).fill("shop-99");
  await page.getByText("1 shown").waitFor();
  await page.getByRole("link", { name: "shop-99" }).click();
  await page.waitForURL(`${place.url}/console/customers/shop-99`);
  await page.getByRole("heading", { name: "shop-99" }).waitFor();
  await open("/platform?tab=access");
  await page.getByRole("row", { name: /Operator owner/ }).waitFor();
  await open("/platform?tab=changes");
  await page
    .getByRole("listitem")
    .filter({ hasText: /created org shop-\d+/ })
    .first()
    .waitFor();
  expect(problems).toEqual([]);
});

test("a role is granted on a customer to a member of one of its organisations, after who gains what, and taken away", async () => {
  const { page, open, problems } = await place.signIn(boss);
  await open(`${customer}?tab=access`);
  await page.getByRole("button", { name: "Grant a role" }).click();
  const dialog = page.getByRole("dialog", { name: "Grant a role" });
  await dialog.getByText("A member or a group of the organisation, which you choose first.").waitFor();
  await dialog.getByRole("combobox", { name: "To whom" }).click();
  await page.getByText("Choose an organisation first.").waitFor();
  await page.keyboard.press("Tab");
  await pick(page, "Organisation", "Acme Ltd");
  await pick(page, "To whom", "dave");
  await pick(page, "Role", "viewer");
  await dialog.getByRole("button", { name: "Show what changes" }).click();
  await dialog
    .getByRole("status", { name: "What this would change" })
    .getByText(/1 member gains permissions/)
    .waitFor();
  await dialog.getByRole("button", { name: "Grant", exact: true }).click();
  await page.getByRole("row", { name: /dave viewer/ }).waitFor();
  await page.getByRole("button", { name: "Take away viewer from dave" }).click();
  const removal = page.getByRole("dialog", { name: "Take away viewer from dave?" });
  await removal.getByRole("button", { name: "Show what changes" }).click();
  await removal.getByText(/1 member loses permissions/).waitFor();
  await removal.getByRole("button", { name: "Take away" }).click();
  await page.getByRole("row", { name: /dave viewer/ }).waitFor({ state: "detached" });
  expect(problems).toEqual([]);
});

test("of more roles than a screen inherits, it shows the first and the way to all", async () => {
  const { orgs, members, projects, roleBindings } = place.api;
  const { path: wide } = await orgs.createOrg({ org: { name: "wide", customerPath: customer } });
  await projects.createProject({ parentPath: wide, project: { name: "web" } });
  const { path: subjectPath } = await members.createMember({ parentPath: wide, member: { name: "nora" } });
  const requests = Array.from({ length: 101 }, (_, index) => ({
    roleBinding: { name: `nora-${index}`, rolePath: "/roles/viewer", subjectPath },
  }));
  await roleBindings.batchCreateRoleBindings({ parentPath: wide, requests });
  const { page, open, problems } = await place.signIn(boss);
  await open(`${wide}/projects/web/roleBindings`);
  await page.getByText("More are granted there.").waitFor();
  // Not by the mouse, which misses it when the list above grows at that moment.
  await page.getByRole("link", { name: "See all" }).press("Enter");
  await page.waitForURL(`${place.url}/console${wide}/roleBindings`);
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByText("1 shown").waitFor();
  expect(problems).toEqual([]);
});

test("roles on the platform and on services are granted to members of its own organisation", async () => {
  const member = { name: "runner", type: Member_Type.APPLICATION };
  await place.api.members.createMember({ parentPath: "/orgs/system", member });
  const { page, open, problems } = await place.signIn("/orgs/system/members/operator");
  await open("/services/metal");
  await page.getByRole("link", { name: "Roles granted" }).click();
  await page.waitForURL(`${place.url}/console/services/metal/roleBindings`);
  await page.getByRole("heading", { name: "Roles granted on metal" }).waitFor();
  await page.getByRole("heading", { name: "Inherited from the platform" }).waitFor();
  await page.getByRole("button", { name: "Grant a role" }).click();
  const dialog = page.getByRole("dialog", { name: "Grant a role" });
  await pick(page, "To whom", "runner");
  await pick(page, "Role", "provider");
  await dialog.getByRole("button", { name: "Show what changes" }).click();
  await dialog.getByRole("button", { name: "Grant", exact: true }).click();
  await page.getByRole("row", { name: /runner provider/ }).waitFor();
  await open("/platform?tab=access");
  await page.getByRole("button", { name: "Grant a role" }).click();
  await pick(page, "To whom", "runner");
  await pick(page, "Role", "viewer");
  await dialog.getByRole("button", { name: "Show what changes" }).click();
  await dialog.getByRole("button", { name: "Grant", exact: true }).click();
  await page.getByRole("row", { name: /runner viewer/ }).waitFor();
  expect(problems).toEqual([]);
});

test("a customer and the platform show what changes meanwhile", async () => {
  const [looker, operator] = [await place.signIn(boss), await place.signIn("/orgs/system/members/operator")];
  await looker.open(customer);
  await looker.page.getByRole("link", { name: "Bolts & Nuts" }).waitFor();
  await operator.open("/platform?tab=customers&q=newcomer");
  await operator.page.getByText("No customer is like that.").waitFor();
  await place.api.orgs.createOrg({ org: { name: "rivets", displayName: "Rivets", customerPath: customer } });
  await place.api.orgs.createOrg({ org: { name: "newcomer" } });
  await looker.page.getByRole("link", { name: "Rivets" }).waitFor();
  await operator.page.getByRole("link", { name: "newcomer" }).waitFor();
});

test("who holds no role above an organisation is shown no way there, and is told why at the address", async () => {
  const { page, open } = await place.signIn(`${acme}/members/wile`);
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403 && response.url().includes("Customer")) refused.push(response.url());
  });
  await open(acme);
  await page.getByRole("heading", { name: "Recent changes" }).waitFor();
  await page.getByText("4 of 40").waitFor();
  expect([refused, await page.getByRole("link", { name: /^Customer / }).count()]).toEqual([[], 0]);
  await page.goto(`${place.url}/console${customer}`);
  await page
    .getByRole("alert")
    .getByText(/iam\.customers\.get/)
    .first()
    .waitFor();
  await open("/platform?tab=access");
  await page.getByText("You may not see who is granted a role here.").waitFor();
  await open("/services/metal");
  await page.getByText("It has no types").or(page.getByText("machines")).first().waitFor();
  expect(await page.getByRole("link", { name: "Roles granted" }).count()).toBe(0);
  await open("/services/metal/roleBindings");
  await page.getByText("You may not see who is granted a role here.").waitFor();
});

test("one webhook of a customer sends what changes in all of its organisations, each seen for itself and sent again", async () => {
  const receiver = await startReceiver(answerWith(507, "no room"));
  const { page, open, problems } = await place.signIn(boss);
  await open(customer);
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.waitForURL(`${place.url}/console${customer}/webhooks`);
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("audit");
  await page.getByRole("textbox", { name: "URL" }).fill(receiver.url);
  await page.getByRole("textbox", { name: "Only changes like" }).fill('resource_type = "Group"');
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByRole("status", { name: "The test" }).getByText("no room").waitFor();
  await page.getByRole("button", { name: "I have it" }).click();
  receiver.answer = accept;
  await place.api.groups.createGroup({ parentPath: acme, group: { name: "drivers" } });
  await place.api.groups.createGroup({ parentPath: "/orgs/bolts", group: { name: "turners" } });
  await page.getByRole("row", { name: /audit .* Active .* Delivered 204/ }).waitFor();
  await page.getByRole("link", { name: "audit" }).click();
  await page.waitForURL(`${place.url}/console${customer}/webhooks/audit`);
  const sent = page.getByRole("table", { name: "What was sent" });
  await sent.getByRole("row", { name: /Acme Ltd Delivered 204/ }).waitFor();
  await sent.getByRole("row", { name: /Bolts & Nuts Delivered 204/ }).waitFor();
  const dialog = page.getByRole("dialog", { name: "Send again" });
  const log = dialog.getByRole("combobox", { name: "Of the organisation" });
  await sent
    .getByRole("row", { name: /Acme Ltd/ })
    .getByRole("button")
    .click();
  await expect.poll(() => log.inputValue()).toBe("Acme Ltd");
  await page.keyboard.press("Escape");
  await pick(page, "Organisation", "Bolts & Nuts");
  await expect.poll(() => sent.getByRole("row").count()).toBe(2);
  expect(new URL(page.url()).searchParams.get("org")).toBe("/orgs/bolts");
  await page.getByText("Up to date").waitFor();
  const { length } = receiver.received;
  await sent.getByRole("button", { name: "Send again from here" }).click();
  await expect.poll(() => log.inputValue()).toBe("Bolts & Nuts");
  await dialog.getByRole("button", { name: "Send again" }).click();
  await dialog.waitFor({ state: "hidden" });
  await expect.poll(() => pathsOf(receiver.received.slice(length))).toEqual(["/orgs/bolts/groups/turners"]);
  await page.getByRole("button", { name: "Send again", exact: true }).click();
  await pick(page, "Of the organisation", "Acme Ltd");
  await dialog.getByLabel("Time", { exact: true }).fill("2020-01-01T00:00");
  await dialog.getByRole("button", { name: "Send again" }).click();
  await dialog.waitFor({ state: "hidden" });
  await expect.poll(() => pathsOf(receiver.received)).toContain(`${acme}/groups/engineering`);
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.waitForURL(`${place.url}/console${customer}/webhooks`);
  await page.getByRole("link", { name: "audit" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(`${place.url}/console${customer}/webhooks`);
  await page.getByText("There are no webhooks yet.").waitFor();
  expect(problems).toEqual([]);
});
