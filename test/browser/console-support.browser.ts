// An organisation approves in the console what the platform does in it, and somebody of the platform asks there.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsolePlace, openConsolePlace } from "./console-place.ts";

const acme = "/orgs/acme";

let place: ConsolePlace;
beforeAll(async () => {
  place = await openConsolePlace();
});
afterAll(() => place.close());

test("an owner requires approval, the platform asks where it is refused, and sees what was approved", async () => {
  const [owner, operator] = [
    await place.signIn(`${acme}/members/wile`),
    await place.signIn("/orgs/system/members/operator"),
  ];
  await owner.open(acme);
  await owner.page.getByRole("button", { name: "Require approval" }).click();
  await owner.page.getByRole("dialog").getByRole("button", { name: "Require approval" }).click();
  await owner.page.getByText("People of the platform need an approval for what they do").waitFor();

  await operator.open(`${acme}/members`);
  await operator.page.getByRole("link", { name: "Ask for access" }).first().click();
  const form = operator.page.getByRole("dialog");
  await form
    .getByRole("button", { name: /hour|day/ })
    .first()
    .click();
  await form.getByRole("textbox", { name: "Why" }).fill("Ticket 4711");
  await form.getByRole("button", { name: "Ask for access" }).click();
  await form.waitFor({ state: "detached" });

  await owner.open(acme);
  await owner.page.getByRole("button", { name: /^Approve: viewer for operator/ }).click();
  await owner.page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await owner.page.getByRole("dialog").waitFor({ state: "detached" });

  await operator.open(`${acme}/members`);
  await operator.page.getByRole("link", { name: "wile" }).first().waitFor();
  expect([...owner.problems, ...operator.problems]).toEqual([]);
});
