// What holds for every screen of the console: contrast and names, a narrow window, the Content-Security-Policy, and the keyboard.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { AccessRequestsService } from "../../gen/iam/v1alpha/access_request_pb.ts";
import { QuotaRequestsService } from "../../gen/iam/v1alpha/quota_request_pb.ts";
import { webhookNetworks } from "../events/webhooks/receiver.ts";
import { createApi } from "../support/api.ts";
import { findingsOf } from "./axe-findings.ts";
import { openCloudOfAcme } from "./cloud-of-acme.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { useQuantities } from "./used-quantities.ts";

/** The organisation of a real community, which is not part of a checkout. */
const community = join(import.meta.dirname, "../../../shared/data/kubernetes-sigs.json");

const acme = "/orgs/acme";
const wile = `${acme}/members/wile`;
const web = `${acme}/projects/web-shop`;

/** Each screen, and what is there when it is whole. */
const screens: (readonly [path: string, text: string])[] = [
  ["/", "All that you may see"],
  ["/me", "What can act as you"],
  [acme, "Recent changes"],
  [`${acme}/members`, "Carol Danvers"],
  [`${acme}/members/bob`, "directly"],
  [`${acme}/members/bob?tab=roles`, "engineering"],
  [`${acme}/members/wile?tab=sessions`, "(this browser)"],
  [`${acme}/members/bob?tab=keys`, "No API keys."],
  [`${acme}/members/bob?tab=identities`, "No account elsewhere is linked."],
  [`${acme}/groups`, "finance"],
  [`${acme}/groups/engineering`, "Members through nested groups"],
  [`${acme}/projects`, "Web shop"],
  [web, "CPU cores"],
  [`${acme}/projects/-/resources`, "front"],
  [`${web}/resources/front`, "debian-12"],
  [`${web}/operations`, "back"],
  [`${acme}/roleBindings`, "wile"],
  [`${web}/roleBindings`, "Inherited from the organisation"],
  [`${acme}/roles`, "The same in every organisation"],
  [`${acme}/roles/write`, "repos.access"],
  ["/roles/editor", "Everything of other services"],
  [`${acme}/findings`, "Take this one away; nobody loses access"],
  [`${acme}/findings?state=GROUP_WITHOUT_MEMBERS&days=30`, "Nothing was found with these words"],
  [`${acme}/changes`, "What is different"],
  [`${acme}/account`, "The last organisation of a customer"],
  [`${acme}/access`, "Choose a permission"],
  [`${acme}/access?subject=${acme}/members/dave&permission=repos.access.write&resource=${web}`, "Because"],
  [`${acme}/access?subject=${acme}/members/erin&permission=iam.projects.update&resource=${web}`, "Smallest role"],
  [`${acme}/webhooks`, "wait"],
  [`${acme}/webhooks/audit`, "Failed"],
  [`${acme}/eventStreams`, "No problem"],
  [`${acme}/eventStreams/gateway`, "No problem"],
  [`${acme}/members?type=APPLICATION`, "deployer"],
  [`${acme}/clients`, "Shop front"],
  [`${acme}/clients/shop`, "OpenID configuration"],
  [`${acme}/identityProviders`, "https://login.example.com"],
  [`${acme}/identityProviders/login`, "Register it at the issuer."],
  [`${acme}/quota`, "CPU cores"],
  [`${acme}/quota?kind=memory`, "Web shop"],
  [`${web}/quota`, "Memory"],
  [`${acme}/usage?by=project`, "At the end (core)"],
  [`${acme}/usage?period=12m&kind=memory&by=type&show=hours`, "In all of this time"],
  [`${acme}/usage?from=2024-03-01&step=hour`, "must be at least"],
  [`${web}/usage?by=service`, "In all of this time"],
  [`${acme}/projects/rockets/usage`, "Nothing was consumed in this time."],
  [`${acme}/quotaRequests`, "CPU cores 64"],
  [`${acme}/quotaRequests/more-cores`, "Limits asked for"],
  ["/customers/acme", "16 GiB"],
  ["/customers/acme?tab=changes", "created session"],
  ["/customers/acme?tab=access", "viewer"],
  ["/customers/acme?tab=account", "For invoices"],
  ["/customers/acme/quota?kind=cpu_cores", "By organisation"],
  ["/customers/acme/usage?by=org", "In all of this time"],
  ["/customers/acme/webhooks", "Failed"],
  ["/customers/acme/webhooks/all", "Failed"],
  ["/platform", "All customers and organisations"],
  ["/services", "Compute"],
  ["/services/compute", "Volumes"],
  ["/services/compute/resourceTypes/instances", "As JSON Schema."],
  ["/services/compute/roleBindings", "You may not see who is granted a role here."],
  ["/quantityKinds", "cpu_cores"],
  ["/nowhere", "There is no screen here"],
];

let place: ConsolePlace;
beforeAll(async () => {
  place = await openConsolePlace({ webhookNetworks });
  // Nothing listens there.
  const webhook = { name: "audit", url: "http://127.0.0.1:9/" };
  await place.api.webhooks.createWebhook({ parentPath: acme, webhook });
  await place.api.webhooks.createWebhook({ parentPath: "/customers/acme", webhook: { ...webhook, name: "all" } });
  const eventStream = { name: "gateway", audience: "https://gateway.example.com" };
  await place.api.eventStreams.createEventStream({ parentPath: acme, eventStream });
  const client = { name: "shop", displayName: "Shop front", redirectUris: ["https://shop.example.com/callback"] };
  await place.api.clients.createClient({ parentPath: acme, client });
  const identityProvider = { name: "login", issuer: "https://login.example.com", clientId: "tenantry" };
  await place.api.identityProviders.createIdentityProvider({ parentPath: acme, identityProvider });
  const cloud = await openCloudOfAcme(place);
  await cloud.create("front");
  await cloud.complete();
  await cloud.create("back");
  const failed = { ...cloud.present(await cloud.claim()), reason: "NO_CAPACITY", message: "The zone is full." };
  await cloud.provider.failOperation(failed);
  const { path } = await cloud.create("waits");
  const running = { ...cloud.present(await cloud.claim()), progressPercent: 40, progressMessage: "Copying" };
  await cloud.provider.renewOperation(running);
  screens.push([path, "Copying"]);
  const customer = await useQuantities(place.api, { hasCores: true });
  const roleBinding = { name: "wile-reads", rolePath: "/roles/viewer", subjectPath: wile };
  await place.api.roleBindings.createRoleBinding({ parentPath: customer, roleBinding });
  const quotaRequest = { name: "more-cores", quotaPath: `${acme}/quota`, limits: { cpu_cores: 64 } };
  const requests = createClient(QuotaRequestsService, place.api.transport);
  await requests.createQuotaRequest({ parentPath: acme, quotaRequest });
  const asked = `subject=${acme}/members/dave&permission=repos.access.write&resource=${web}`;
  screens.push([`${acme}/access?${asked}&asOf=${new Date().toISOString()}`, "Because"]);
  const before = new Date().toISOString();
  await place.api.groups.createGroup({ parentPath: acme, group: { name: "night-watch" } });
  // Its time has microseconds, and that of a screen milliseconds.
  await sleep(2);
  screens.push([`${acme}/rollback?to=${before}`, "groups/night-watch"]);
  screens.push([`${acme}/past?show=groups&at=${new Date().toISOString()}`, "night-watch"]);
  screens.push([`${acme}/past?at=then`, "Or as of a revision"]);
  screens.push([`${acme}/access?${asked}&asOf=then`, "Or as of a revision"]);
  const accessRequest = {
    rolePath: "/roles/viewer",
    resourcePath: web,
    reason: "Ticket 4711",
    expireTime: timestampFromMs(Date.now() + 3_600_000),
  };
  const { secret = "" } = await place.api.apiKeys.createApiKey({
    parentPath: `${acme}/members/alice`,
    apiKey: { name: "asks" },
  });
  const asker = createClient(AccessRequestsService, createApi("gRPC", place.url, secret).transport);
  const request = await asker.createAccessRequest({ parentPath: acme, accessRequest });
  screens.push([`${acme}/accessRequests`, "Ticket 4711"], [request.path, "What has happened"]);
  screens.push([`${acme}/members/dave?tab=history`, "All changes of this member"]);
  screens.push([`${acme}/projects?state=DELETED`, "No project is like that."]);
  await place.api.members.updateMember({ path: `${acme}/members/erin`, member: { description: "Counts" } });
});
afterAll(() => place.close());

async function show({ page, open }: ConsolePage, path: string, text: string): Promise<void> {
  await open(path);
  await page.getByText(text).first().waitFor();
}

test("no screen keeps people out, in light or dark or at 360 pixels, breaks the policy, or asks another host", async () => {
  const window = await place.signIn(wile);
  const { page, problems, outside } = window;
  const findings: string[] = [];
  for (const [path, text] of screens) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1_280, height: 860 });
    await show(window, path, text);
    const found = await findingsOf(page);
    // What is dark differs in its colours alone.
    await page.emulateMedia({ colorScheme: "dark" });
    found.push(...(await findingsOf(page, '{ runOnly: ["color-contrast"] }')));
    await page.setViewportSize({ width: 360, height: 860 });
    if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) found.push("wider than 360 pixels");
    findings.push(...found.map((finding) => `${path} ${finding}`));
  }
  expect([findings, problems, outside]).toEqual([[], [], []]);
});

test("in a window of 360 pixels, the navigation shows where somebody is", async () => {
  const window = await place.signIn(wile, { width: 360 });
  await show(window, `${acme}/identityProviders`, "https://login.example.com");
  const { x, width } = required(await window.page.locator("nav.side [aria-current]").boundingBox());
  expect([x >= 0, x + width <= 360]).toEqual([true, true]);
});

test("the first page is at most 250 kB gzipped, and what waits adds little, but no other screen", async () => {
  const calm = "/orgs/calm";
  await place.api.orgs.createOrg({ org: { name: "calm" } });
  const { path: owner } = await place.api.members.createMember({ parentPath: calm, member: { name: "owner" } });
  const roleBinding = { name: "owner-owns", rolePath: "/roles/owner", subjectPath: owner };
  await place.api.roleBindings.createRoleBinding({ parentPath: calm, roleBinding });
  const first = await loadedBy(owner, calm, ["owner-owns"]);
  expect(first.kilobytes).toBeGreaterThan(50);
  expect(first.kilobytes).toBeLessThan(250);
  expect(first.screens).toEqual([expect.stringContaining("overview-screen")]);
  const second = await loadedBy(wile, acme, ["Ticket 4711", "CPU cores 64"]);
  expect(second.kilobytes).toBeGreaterThan(first.kilobytes);
  expect(second.kilobytes).toBeLessThan(265);
  expect(second.screens).toEqual(first.screens);
});

/** Opens the page of an org until all of it is shown. Returns the size of what that loads, compressed, and which of it are screens. */
async function loadedBy(member: string, org: string, shown: readonly string[]) {
  // What it loads after all this is still read.
  const { page } = await place.signIn(member, { staysOpen: true });
  const fresh = await page.context().newPage();
  const bodies: Promise<[name: string, bytes: number]>[] = [];
  fresh.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith("/console/") || pathname === "/console/session") return;
    bodies.push(response.body().then((body) => [pathname, gzipSync(body).length]));
  });
  await fresh.goto(`${place.url}/console${org}`);
  // Each of them comes with a file of its own, after the others or before.
  for (const text of ["Role bindings", "Recent changes", "Require approval", ...shown]) {
    await fresh.getByText(text).first().waitFor();
  }
  const sizes = new Map(await Promise.all(bodies));
  const kilobytes = [...sizes.values()].reduce((sum, size) => sum + size, 0) / 1_000;
  return { kilobytes, screens: [...sizes.keys()].filter((name) => name.includes("-screen-")) };
}

test("a member is found and opened with the keyboard alone, and leads to what it may do", async () => {
  const window = await place.signIn(wile);
  const { page } = window;
  await show(window, acme, "Recent changes");
  const focusOn = async (name: string): Promise<void> => {
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press("Tab");
      if (
        (await page.evaluate("document.activeElement.textContent.trim() || document.activeElement.ariaLabel")) === name
      )
        return;
    }
    throw new Error(`Tab does not lead to ${name}`);
  };
  await focusOn("Members");
  await page.keyboard.press("Enter");
  await page.getByRole("searchbox", { name: "Search members" }).waitFor();
  await page.getByRole("link", { name: "dave" }).waitFor();
  await focusOn("Search members");
  await page.keyboard.type("dave");
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await focusOn("dave");
  await page.keyboard.press("Enter");
  await page.getByText("What may this member do?").waitFor();
  await focusOn("What may this member do?");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/access\?subject=/);
});

test.runIf(existsSync(community))("an organisation of a thousand members is paged, searched and scrolled", async () => {
  await place.importFile(community);
  const { page, open, problems } = await place.signIn("/orgs/system/members/operator");
  await open("/orgs/kubernetes-sigs/members");
  await page.getByText("100 of 1144 shown").waitFor();
  // Only the rows near what is visible are drawn.
  expect(await page.getByRole("row").count()).toBeLessThan(60);
  const table = page.getByRole("table", { name: "Members" });
  expect(await table.getAttribute("aria-rowcount")).toBe("101");
  await page.keyboard.press("End");
  await table.locator('[aria-rowindex="101"]').waitFor();
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByRole("link", { name: "First page" }).waitFor();
  await page.goBack();
  await page.getByRole("searchbox", { name: "Search members" }).fill("bentheelder");
  await page.getByRole("link", { name: "BenTheElder" }).click();
  await page.getByRole("link", { name: "kind-admins", exact: true }).waitFor();
  await page.getByRole("tab", { name: "Roles" }).click();
  await page.getByRole("row", { name: /admin kind kind-admins/ }).waitFor();
  expect(problems).toEqual([]);
});
