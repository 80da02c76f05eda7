// What somebody does who has just started the service, and has read nothing.
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";

let place: ConsolePlace;
beforeAll(async () => {
  place = await openConsolePlace({}, true);
});
afterAll(() => place.close());

/** How many seconds people take to find something and click on it, and to find a field and type into it. */
const seconds = { click: 4, type: 7 };

/** Somebody at a page, whose clicks and typed fields are counted. */
function createPerson(page: Page) {
  const did = { click: 0, type: 0 };
  const click = async (what: Locator): Promise<void> => {
    did.click += 1;
    await what.click();
  };
  const type = async (field: Locator, text: string): Promise<void> => {
    did.type += 1;
    await field.fill(text);
  };
  return {
    did,
    click,
    type,
    press: (name: string): Promise<void> => click(page.getByRole("button", { name, exact: true })),
    follow: (name: string | RegExp): Promise<void> =>
      click(page.getByRole("main").getByRole("link", { name, exact: true }).first()),
    write: (field: string, text: string): Promise<void> =>
      type(page.getByRole("textbox", { name: field, exact: true }), text),
    async pick(field: string, words: string): Promise<void> {
      await type(page.getByRole("combobox", { name: field }), words);
      await click(page.getByRole("option", { name: words }).first());
    },
  };
}

test("a newcomer gets from the link of the first start to who may deploy until Friday, and who else, in three minutes", async () => {
  const { page, problems } = await place.openWindow();
  const person = createPerson(page);
  const { press, follow, write, pick } = person;
  await page.goto(`${place.url}/sign-in#${await place.codeFor("/orgs/system/members/operator")}`);
  await press("Sign in");

  await page.getByText("Begin with an organisation").waitFor();
  await press("New organisation");
  await write("Name", "acme");
  await press("Create");

  await follow("Create members");
  await write("Members", "bob, Bob Builder\nalice, Alice Liddell");
  await press("Create");
  await page.getByRole("link", { name: "Bob Builder" }).waitFor();

  await follow("Overview");
  await follow("Create a project");
  await write("Name", "web-shop");
  await press("Create");
  await page.getByRole("table", { name: "Projects" }).getByRole("link", { name: "web-shop" }).waitFor();

  await follow("Overview");
  await follow(/^Create a role of your own/);
  await write("Name", "deployer");
  await person.type(page.getByRole("searchbox", { name: "Search permissions" }), "shop.sites.deploy");
  await press("Add shop.sites.deploy");
  await press("Create");
  await page.getByRole("link", { name: "deployer" }).waitFor();

  await follow("Overview");
  await expect.poll(() => page.getByText("✓ Done").count()).toBe(3);
  await follow(/^Grant a member a role/);
  await pick("To whom", "Bob Builder");
  await pick("Role", "deployer");
  await press("Friday");
  await press("Show what changes");
  await page.getByText("1 member gains permissions.").waitFor();
  await press("Grant");
  await page.getByRole("row", { name: /Bob Builder deployer .*18:00/ }).waitFor();

  await follow("Who may do what here?");
  await pick("May do what", "shop.sites.deploy");
  const everybody = page.getByRole("table", { name: "Everybody who may" });
  await everybody.getByRole("row", { name: /Bob Builder/ }).waitFor();
  expect(await everybody.getByRole("row").count()).toBe(2);
  await follow("Why may Bob Builder?");
  await page.getByText("Yes", { exact: true }).waitFor();
  await page.getByText(/until .*18:00/).waitFor();

  const { did } = person;
  expect([did, did.click * seconds.click + did.type * seconds.type < 180]).toEqual([{ click: 22, type: 8 }, true]);
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("Used, against quota").waitFor();
  await expect.poll(() => page.getByText("Four steps to begin").count()).toBe(0);
  expect(problems).toEqual([]);
});
