// The account of an organisation in the console: what invoices name, contacts and their confirmation, owners, and its end.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findingsOf } from "./axe-findings.ts";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";

let place: ConsolePlace;
beforeAll(async () => {
  place = await openConsolePlace();
});
afterAll(() => place.close());

const acme = "/orgs/acme";

const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
const write = (page: Page, field: string, text: string): Promise<void> =>
  page.getByRole("textbox", { name: field, exact: true }).fill(text);

test("an owner names who gets invoices and a contact, who confirms its address", async () => {
  const { page, problems, open } = await place.signIn(`${acme}/members/wile`);
  await open(`${acme}/account`);
  await page.getByRole("heading", { name: "Account", exact: true }).waitFor();
  await page.getByText("There are no contacts yet.").waitFor();
  await page.getByRole("heading", { name: "Who may act" }).waitFor();
  await page.getByText("tenantry delete orgs/acme").waitFor();

  await press(page, "Change");
  await write(page, "Legal name", "Acme & Söhne GmbH");
  await write(page, "Billing reference", "PO-4711");
  await press(page, "Save");
  await page.locator("dd").getByText("Acme & Söhne GmbH").waitFor();
  expect(await place.api.orgs.getOrg({ path: acme })).toMatchObject({
    legalName: "Acme & Söhne GmbH",
    billingReference: "PO-4711",
    displayName: expect.stringMatching(/./) as string,
  });

  await press(page, "New contact");
  await write(page, "Name", "finance");
  await write(page, "Address", "finance@acme.example");
  await page.getByRole("checkbox", { name: "Billing" }).check();
  await page.getByRole("checkbox", { name: "Security" }).check();
  await press(page, "Create");
  const line = (text: RegExp) => page.getByRole("listitem").filter({ hasText: text });
  const row = line(/finance@acme\.example.*Billing, Security.*Not confirmed/);
  await row.waitFor();

  await row.getByRole("button", { name: "Send a link: finance" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send a link" }).click();
  const note = page.getByRole("status", { name: "Pass the link on" });
  await note.waitFor();
  const link = (await note.locator("code").textContent()) ?? "";
  expect(await findingsOf(page)).toEqual([]);
  await press(page, "I have passed it on");

  const reader = await place.openWindow();
  await reader.page.goto(link);
  await press(reader.page, "Show the contact");
  await reader.page.getByText("finance@acme.example").waitFor();
  expect(await findingsOf(reader.page)).toEqual([]);
  await reader.page.getByRole("checkbox").check();
  await press(reader.page, "Confirm");
  await reader.page.getByRole("heading", { name: "Confirmed" }).waitFor();
  await reader.page.context().close();

  await line(/finance@acme\.example.*SecurityConfirmed/).waitFor();
  await page.getByRole("button", { name: "Delete finance" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("There are no contacts yet.").waitFor();
  expect([problems, reader.problems]).toEqual([[], []]);
});

test("on the tab of a customer its contacts are named, and its owners shown, also where the screen is narrow", async () => {
  const { customerPath } = await place.api.orgs.getOrg({ path: acme });
  await place.api.roleBindings.createRoleBinding({
    parentPath: customerPath,
    roleBinding: { name: "wile", rolePath: "/roles/owner", subjectPath: `${acme}/members/wile` },
  });
  const { page, problems, open } = await place.signIn(`${acme}/members/wile`);
  await page.setViewportSize({ width: 360, height: 800 });
  await open(`${customerPath}?tab=account`);
  await page.getByText("There are no contacts yet.").waitFor();
  await page.getByText("Owners here decide everything").waitFor();
  await page.getByRole("link", { name: /wile/ }).first().waitFor();

  await press(page, "New contact");
  await write(page, "Name", "holding");
  await write(page, "Address", "accounts-payable@holding.acme.example");
  await page.getByRole("checkbox", { name: "Billing" }).check();
  await press(page, "Create");
  const line = page.getByRole("listitem").filter({ hasText: /accounts-payable@holding\.acme\.example/ });
  await line.waitFor();
  // The address is on one line, and nothing is wider than the screen.
  const { height } = (await line.getByText("accounts-payable@holding.acme.example").boundingBox()) ?? { height: 0 };
  expect(height).toBeLessThan(30);
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
  expect(await findingsOf(page)).toEqual([]);
  const { contacts } = await place.api.contacts.listContacts({ parentPath: customerPath });
  expect(contacts.map(({ path }) => path)).toEqual([`${customerPath}/contacts/holding`]);
  await line.getByRole("button", { name: "Delete holding" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("There are no contacts yet.").waitFor();
  expect(problems).toEqual([]);
});
