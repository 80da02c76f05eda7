// What people do in the console with what the service sends to receivers: real ones, on this machine.
import { decodeJwt } from "jose";
import type { Page } from "playwright-core";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Webhook_State } from "../../gen/iam/v1alpha/webhook_pb.ts";
import { required } from "../../src/errors/required.ts";
import { pathsOf } from "../events/webhooks/place.ts";
import { accept, answerWith, startReceiver, webhookNetworks } from "../events/webhooks/receiver.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { focusOn } from "./focus-on.ts";
import { shellCommands } from "./shell-commands.ts";

const acme = "/orgs/acme";
const wile = `${acme}/members/wile`;
const onlyGroups = 'resource_type = "Group"';

let place: ConsolePlace;
/** Of somebody who may do all that is here. */
let window: ConsolePage;
beforeAll(async () => {
  place = await openConsolePlace({ webhookNetworks });
  window = await place.signIn(wile, { staysOpen: true });
});
afterAll(() => place.close());

const createGroup = (name: string) => place.api.groups.createGroup({ parentPath: acme, group: { name } });

/** Creates a webhook that delivers changes of groups for the operator. */
const createWebhook = (name: string, url: string) =>
  place.api.webhooks.createWebhook({ parentPath: acme, webhook: { name, url, filter: onlyGroups } });

/** Presses a button, fills the dialog that it opens, and agrees there. */
async function ask(page: Page, button: string, agree: string, fill?: (page: Page) => Promise<void>): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).click();
  await fill?.(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: agree, exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
}

test("a webhook is created with the keyboard alone, its secret shown once, and its receiver tested", async () => {
  const receiver = await startReceiver(answerWith(200, "<b>thank you</b>"));
  const { page, open, problems } = window;
  await open(`${acme}/webhooks`);
  await page.getByText("Create one with the URL of a receiver.").waitFor();
  await focusOn(page, "New webhook");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await focusOn(page, "Name");
  await page.keyboard.type("audit");
  await focusOn(page, "URL");
  await page.keyboard.type("http://hooks.example.com/");
  await page.keyboard.press("Enter");
  await page.getByText('must begin with https://, got "http://hooks.example.com/"').waitFor();
  const url = page.getByRole("textbox", { name: "URL" });
  expect(await url.getAttribute("aria-invalid")).toBe("true");
  await url.fill(receiver.url);
  await page.keyboard.press("Enter");
  const secret = required(await page.getByText(/^whsec_[A-Za-z0-9+/]{20,}/).textContent());
  await page.getByRole("button", { name: "Send a test" }).click();
  const result = page.getByRole("status", { name: "The test" });
  await result.getByText("Delivered").waitFor();
  await result.getByText("<b>thank you</b>").waitFor();
  const [{ headers, body }] = [required(receiver.received[0])];
  expect(new StandardWebhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
    type: "webhook.test",
  });
  const commands = (await shellCommands(page, "curl")).join("\n");
  expect(commands).toContain('"name":"audit"');
  expect(commands).toContain(`${place.url}/iam/v1alpha${acme}/webhooks/audit:test`);
  expect(commands).not.toContain(secret);
  await page.getByRole("button", { name: "I have it" }).click();
  expect(await page.content()).not.toContain(secret);
  await createGroup("told");
  await page.getByRole("row", { name: /audit .* Active .* Delivered 200 Up to date/ }).waitFor();
  expect(problems).toEqual([]);
});

test("what waits for a receiver that fails is seen, what it answered, and what was sent is sent again", async () => {
  const receiver = await startReceiver(answerWith(507, "no room"));
  const { path } = await createWebhook("siem", receiver.url);
  await createGroup("waits-first");
  await createGroup("waits-second");
  const { page, open, problems } = window;
  await open(`${acme}/webhooks?q=siem`);
  await page.getByRole("row", { name: /siem .* Failed 507 2 changes wait since/ }).waitFor();
  await page.getByRole("link", { name: "siem" }).click();
  const deliveries = page.getByRole("table", { name: "What was sent" });
  await deliveries.getByRole("row", { name: /Failed 507 *no room *Again at/ }).waitFor();
  receiver.answer = accept;
  const bySendAgain = page.getByRole("dialog", { name: "Send again" });
  // Both may have been sent again by now.
  await deliveries.getByRole("button", { name: "Send again from here" }).first().click();
  await bySendAgain.getByRole("button", { name: "Send again" }).click();
  await deliveries
    .getByRole("row", { name: /Delivered 204/ })
    .nth(1)
    .waitFor();
  await page.getByText("Up to date").waitFor();
  const { length } = receiver.received;
  await page.getByRole("button", { name: "Send again", exact: true }).click();
  await bySendAgain.getByRole("radio", { name: "A change in the log" }).check();
  await bySendAgain.getByRole("button", { name: "Send again" }).click();
  await bySendAgain.getByText("must be set").waitFor();
  await bySendAgain.getByRole("radio", { name: "What was changed since a time" }).check();
  await bySendAgain.getByLabel("Time", { exact: true }).fill("2100-01-01T00:00");
  await bySendAgain.getByRole("button", { name: "Send again" }).click();
  await bySendAgain.getByRole("alert").getByText("There is no change since then.").waitFor();
  await bySendAgain.getByLabel("Time", { exact: true }).fill("2020-01-01T00:00");
  await bySendAgain.getByRole("button", { name: "Send again" }).click();
  // All groups of the organisation, also those from before the webhook.
  const { groups } = await place.api.groups.listGroups({ parentPath: acme, pageSize: 1_000 });
  const paths = new Set(groups.map(({ path: group }) => group));
  await expect.poll(() => new Set(pathsOf(receiver.received.slice(length)))).toEqual(paths);
  expect((await place.api.webhooks.getWebhook({ path })).state).toBe(Webhook_State.ACTIVE);
  expect(problems).toEqual([]);
});

test("a webhook is changed, paused, resumed for whoever does it, gets another secret, and is deleted", async () => {
  const receiver = await startReceiver();
  const { path, memberPath } = await createWebhook("mirror", receiver.url);
  const { page, open, problems } = window;
  await open(path);
  await page.getByRole("button", { name: "Change" }).click();
  const filter = page.getByRole("textbox", { name: "Only changes like" });
  await filter.fill("resource_type = ");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/column \d+/).waitFor();
  await filter.fill("");
  await page.getByRole("combobox", { name: "Format" }).selectOption("CloudEvents: a request for each change");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.getByText("All", { exact: true }).waitFor();
  await page.getByText("CloudEvents: a request for each change").waitFor();
  expect((await place.api.webhooks.getWebhook({ path })).memberPath).not.toBe(memberPath);
  await ask(page, "Pause", "Pause");
  await page.getByText("Paused", { exact: true }).waitFor();
  await ask(page, "Resume", "Resume");
  await page.getByText("Active").waitFor();
  await ask(page, "Replace the secret", "Replace the secret");
  await page.getByText(/^whsec_/).waitFor();
  await page.getByText("Secret before, until").waitFor();
  await ask(page, "Delete", "Delete");
  await page.waitForURL(`${place.url}/console${acme}/webhooks`);
  await page.getByRole("table", { name: "Webhooks" }).or(page.getByText("There are no webhooks yet.")).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "mirror" }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test("who may only look at a webhook is told so at its buttons, and leaves no refused call", async () => {
  const { path: member } = await place.api.members.createMember({ parentPath: acme, member: { name: "looker" } });
  const role = { name: "looks-at-webhooks", permissions: ["iam.orgs.get", "iam.webhooks.get"] };
  const { path: rolePath } = await place.api.roles.createRole({ parentPath: acme, role });
  const roleBinding = { name: "looker-looks", rolePath, subjectPath: member };
  await place.api.roleBindings.createRoleBinding({ parentPath: acme, roleBinding });
  const { path } = await createWebhook("closed", "https://hooks.invalid/");
  const { page, open } = await place.signIn(member);
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url().split("/").at(-1) ?? ""));
  await open(path);
  const pause = page.getByRole("button", { name: "Pause" });
  await expect.poll(() => pause.getAttribute("aria-disabled")).toBe("true");
  await page.getByText("You may not see this.").waitFor();
  expect(sent).toContain("GetWebhook");
  for (const method of ["ListWebhookDeliveries", "ListChanges"]) expect(sent).not.toContain(method);
  await pause.press("Enter");
  await page.getByRole("dialog", { name: "You may not do this" }).getByText("iam.webhooks.pause").waitFor();
});

test("an event stream that is pushed is created, verified, paused and resumed, and says what its receiver answers", async () => {
  const receiver = await startReceiver(answerWith(202));
  const { page, open, problems } = window;
  await open(`${acme}/eventStreams`);
  await page.getByText("Create one for a receiver.").waitFor();
  await page.getByRole("button", { name: "New event stream" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("gateway");
  await page.getByRole("textbox", { name: "Send to" }).fill(receiver.url);
  await page.getByLabel("Authorization header").fill("Bearer letmein");
  await page.getByRole("checkbox", { name: "Sessions and tokens end" }).check();
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("must be set").waitFor();
  await page.getByRole("textbox", { name: "Audience" }).fill("https://gateway.example.com");
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(`${place.url}/console${acme}/eventStreams/gateway`);
  await page.getByText("No problem").waitFor();
  await ask(page, "Send a verification event", "Send", () => page.getByLabel("State").fill("hello"));
  const jti = await page.getByRole("status").locator("code").textContent();
  await expect.poll(() => receiver.received.length).toBe(1);
  const { headers, body } = required(receiver.received[0]);
  expect([headers.authorization, decodeJwt(body)]).toEqual([
    "Bearer letmein",
    expect.objectContaining({
      jti,
      aud: "https://gateway.example.com",
      events: { "https://schemas.openid.net/secevent/ssf/event-type/verification": { state: "hello" } },
    }),
  ]);
  await ask(page, "Pause", "Pause");
  await page.getByText("Paused", { exact: true }).waitFor();
  await ask(page, "Resume", "Resume");
  await page.getByText("Active").waitFor();
  receiver.answer = answerWith(400, '{"err": "invalid_audience", "description": "not <me>"}');
  await ask(page, "Send a verification event", "Send");
  await page.getByText(/Fails since .* Again at/).waitFor();
  await page.getByText(/invalid_audience.*not <me>/).waitFor();
  const commands = (await shellCommands(page, "curl")).join("\n");
  expect(commands).toContain(`${place.url}/iam/v1alpha${acme}/eventStreams/gateway:resume`);
  await ask(page, "Delete", "Delete");
  await page.getByText("There are no event streams yet.").waitFor();
  expect(problems).toEqual([]);
});

test("an event stream without a URL says where its receiver polls; the header of one is in no curl command", async () => {
  const { page, open, problems } = window;
  await open(`${acme}/eventStreams`);
  await page.getByRole("button", { name: "New event stream" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("poller");
  await page.getByRole("textbox", { name: "Audience" }).fill("https://app.example.com");
  await page.getByRole("button", { name: "Create" }).click();
  const address = required(await page.getByText(/\/eventStreams\/poller:poll$/).textContent());
  await ask(page, "Send a verification event", "Send");
  const jti = required(await page.getByRole("status").locator("code").textContent());
  const path = `${acme}/eventStreams/poller`;
  expect(address).toBe(`${place.url}/iam/v1alpha${path}:poll`);
  const { sets } = await place.api.eventStreams.pollEventStream({ path, returnImmediately: true });
  expect(Object.keys(sets)).toEqual([jti]);
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Authorization header").fill("Bearer letmein");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("must be empty without a push_url").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  const commands = (await shellCommands(page, "curl")).join("\n");
  expect(commands).toContain('"push_authorization":"..."');
  expect(commands).not.toContain("letmein");
  expect(problems).toEqual([]);
});
