// What people do in the console who look at what was consumed over time. Each test is a job.
import { createClient } from "@connectrpc/connect";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QueryUsageRequest_Dimension as Dimension, UsageService } from "../../gen/iam/v1alpha/usage_pb.ts";
import { type ConsolePage, type ConsolePlace, openConsolePlace } from "./console-place.ts";
import { focusOn } from "./focus-on.ts";
import { useQuantities } from "./used-quantities.ts";
import { shellCommands } from "./shell-commands.ts";

const acme = "/orgs/acme";
const webShop = `${acme}/projects/web-shop`;
const gib = 1024 ** 3;

let place: ConsolePlace;
let customer: string;
/** Owns the org, and may read its customer. */
let wile: ConsolePage;
beforeAll(async () => {
  place = await openConsolePlace();
  customer = await useQuantities(place.api);
  const subjectPath = `${acme}/members/wile`;
  const roleBinding = { name: "wile-reads", rolePath: "/roles/viewer", subjectPath };
  await place.api.roleBindings.createRoleBinding({ parentPath: customer, roleBinding });
  wile = await place.signIn(subjectPath, { staysOpen: true });
});
afterAll(() => place.close());

/** Keeps what time the latest answer of the service is about, and how many of these calls it has refused. */
function followUsage({ page }: ConsolePage) {
  const followed = { from: "", to: "", refused: 0 };
  page.on("response", async (response) => {
    if (!response.url().endsWith("/QueryUsage")) return;
    if (response.status() === 403) followed.refused += 1;
    if (response.status() !== 200) return;
    // The browser has no answer any more to what a screen asked that was left meanwhile.
    const answer = (await response.json().catch(() => undefined)) as { fromTime: string; toTime: string } | undefined;
    if (answer !== undefined) Object.assign(followed, { from: answer.fromTime, to: answer.toTime });
  });
  return followed;
}

/** Returns the cells of a row of a table, by its head. */
async function cellsOf(page: Page, table: string, row: string): Promise<string[]> {
  const cells = page.getByRole("table", { name: table }).getByRole("row", { name: row }).getByRole("cell");
  return (await cells.allTextContents()).map((text) => text.replaceAll(",", ""));
}

interface Consumed {
  readonly hours: number;
  readonly maximum: number;
  readonly last: number;
}

/** Asks the API what the web shop has consumed in a time, in one step. */
async function askUsage(parentPath: string, kind: string, from: string, to: string): Promise<Consumed> {
  const toTimestamp = (text: string) => {
    const [seconds = "", fraction = ""] = text.replace("Z", "").split(".");
    return { seconds: BigInt(Date.parse(`${seconds}Z`) / 1_000), nanos: Number(fraction.padEnd(9, "0")) };
  };
  const { series } = await createClient(UsageService, place.api.transport).queryUsage({
    parentPath,
    fromTime: toTimestamp(from),
    toTime: toTimestamp(to),
    groupBy: [Dimension.PROJECT],
  });
  const ofShop = series.find((each) => each.projectPath === webShop && each.kind === kind);
  const [point] = ofShop?.points ?? [];
  return {
    hours: Number(point?.amountSeconds) / 3_600,
    maximum: Number(point?.maximum),
    last: Number(point?.amount),
  };
}

describe("usage", () => {
  test("is found from the overview, and has the numbers of the API in its chart and tables", async () => {
    const { page, open, problems } = wile;
    const followed = followUsage(wile);
    await open(acme);
    await page.getByRole("link", { name: "Usage over time" }).click();
    await page.waitForURL(`${place.url}/console${acme}/usage`);
    await page.getByRole("combobox", { name: "Divided by" }).selectOption("Project");
    await page.waitForURL(/\/usage\?by=project$/);
    await page.getByRole("img", { name: "CPU cores by project" }).waitFor();
    // What is shown is read again when something changes in the org, such as that somebody has signed in.
    await expect
      .poll(async () => {
        const { hours, maximum, last } = await askUsage(acme, "cpu_cores", followed.from, followed.to);
        const cells = (await cellsOf(page, "In all of this time", "Web shop")).map(Number);
        const [average = NaN, ...others] = cells;
        const length = (Date.parse(followed.to) - Date.parse(followed.from)) / 3_600_000;
        // Numbers are written with three digits.
        return [
          average / (hours / length),
          ...others.map((cell, at) => cell / ([maximum, last, hours][at] ?? NaN)),
        ].every((ratio) => Math.abs(ratio - 1) < 0.006);
      })
      .toBe(true);
    expect((await cellsOf(page, "In all of this time", "Web shop")).slice(1, 3)).toEqual(["4", "4"]);

    await page.getByRole("combobox", { name: "Shown as" }).selectOption("Core-hours");
    await page.waitForURL(/\/usage\?by=project&show=hours$/);
    const byHour = page.getByRole("table", { name: "Core-hours in each hour" });
    await byHour.waitFor();
    expect(await byHour.locator("tbody tr").count()).toBe(168);
    // Nothing was there until some moments ago, so the last hours have all of it.
    const cells = await byHour.locator("tbody tr td:last-child").allTextContents();
    const inAll = Number((await cellsOf(page, "In all of this time", "Total")).at(-1));
    expect(cells.slice(0, -2).every((cell) => cell === "0")).toBe(true);
    expect(cells.reduce((sum, cell) => sum + Number(cell), 0) / inAll).toBeCloseTo(1, 1);

    await page.getByRole("combobox", { name: "Quantity" }).selectOption("Memory");
    await page.getByRole("heading", { name: "Memory by project" }).waitFor();
    const memory = await askUsage(acme, "memory", followed.from, followed.to);
    expect(memory.last).toBe(16 * gib);
    expect((await cellsOf(page, "In all of this time", "Web shop")).slice(1, 3)).toEqual(
      ["16", "16"].map((amount) => expect.stringMatching(new RegExp(`^${amount}(\\.00)?$`)) as string),
    );
    const asked = expect.stringMatching(/usage:query\?from_time=[^&]+&step=3600s&group_by=PROJECT'/) as string;
    expect(await shellCommands(page, "curl")).toContainEqual(asked);
    expect([followed.refused, problems]).toEqual([0, []]);
  });

  test("of another time is chosen, and read in the chart, with the keyboard alone", async () => {
    const { page, open, problems } = wile;
    await open(`${acme}/usage`);
    await page.getByRole("table", { name: "Average in each hour (core)" }).waitFor();
    await focusOn(page, "Time");
    await page.keyboard.press("ArrowDown");
    await page.waitForURL(/\/usage\?period=30d$/);
    const byDay = page.getByRole("table", { name: "Average in each day (core)" });
    await expect.poll(() => byDay.locator("tbody tr").count()).toBe(30);
    await focusOn(page, "Moment in the chart");
    const reader = page.getByRole("slider", { name: "Moment in the chart" });
    const today = await reader.getAttribute("aria-valuetext");
    expect(today).toMatch(/: (?!0$)[\d.]+$/);
    await page.keyboard.press("ArrowLeft");
    expect(await reader.getAttribute("aria-valuenow")).toBe("29");
    await page.keyboard.press("Home");
    const first = await byDay.locator("tbody tr th").first().textContent();
    expect(await reader.getAttribute("aria-valuetext")).toBe(`${first}: 0`);
    await page
      .locator(".chart-moment")
      .getByText(first ?? "")
      .waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => reader.getAttribute("aria-valuenow")).toBe("30");
    // With a pointer, too, as long as that is over the chart.
    await reader.hover();
    await expect.poll(() => page.locator(".chart-mark").count()).toBe(1);
    expect(Number(await reader.getAttribute("aria-valuenow"))).toBeLessThan(20);
    await page.mouse.move(0, 0);
    await expect.poll(() => page.locator(".chart-mark").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("from day to day says at its fields what the service says, and what to do where nothing was consumed", async () => {
    const { page, open, problems } = wile;
    await open(`${acme}/usage`);
    await page.getByRole("combobox", { name: "Time" }).selectOption("From day to day");
    await page.waitForURL(/from=\d{4}-\d\d-\d\d$/);
    await page.getByLabel("First day").fill("2024-03-01");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/from=2024-03-01$/);
    await page.getByRole("combobox", { name: "In steps of" }).selectOption("Hour");
    await page
      .locator(".field", { hasText: "In steps of" })
      .locator(".field-error")
      .getByText("must be at least")
      .waitFor();
    await page.getByLabel("Last day").fill("2999-01-01");
    await page.getByRole("button", { name: "Show" }).click();
    await page.locator(".field", { hasText: "Last day" }).locator(".field-error").getByText("in the future").waitFor();
    await page.getByLabel("Last day").fill("2024-03-02");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("Nothing was consumed in this time.").waitFor();
    await page.getByRole("link", { name: "Resources", exact: true }).last().click();
    await page.waitForURL(`${place.url}/console${acme}/projects/-/resources`);
    expect(problems).toEqual([]);
  });

  test("of a customer leads to that of its organisations, and from there to that of a project in the same time", async () => {
    const { page, open, problems } = wile;
    await open(`${customer}/quota?kind=cpu_cores`);
    await page.getByRole("link", { name: "Usage over time" }).click();
    await page.waitForURL(/\/usage\?kind=cpu_cores$/);
    await page.getByRole("combobox", { name: "Time" }).selectOption("Last 12 months");
    await page.getByRole("combobox", { name: "Divided by" }).selectOption("Organisation");
    const table = page.getByRole("table", { name: "In all of this time" });
    await table.getByRole("link", { name: "Acme Ltd" }).click();
    const sameTime = ({ searchParams }: URL): boolean =>
      searchParams.get("period") === "12m" && searchParams.get("kind") === "cpu_cores" && !searchParams.has("by");
    await page.waitForURL((url) => url.pathname === `/console${acme}/usage` && sameTime(url));
    await page.getByRole("combobox", { name: "Divided by" }).selectOption("Project");
    await table.getByRole("link", { name: "Web shop" }).click();
    await page.waitForURL((url) => url.pathname === `/console${webShop}/usage` && sameTime(url));
    await page.getByRole("heading", { level: 1, name: "Usage of Web shop" }).waitFor();
    await page.getByRole("combobox", { name: "Divided by" }).selectOption("Type");
    await table.getByRole("link", { name: "machines" }).waitFor();
    expect(await page.getByRole("table", { name: "Average in each month (core)" }).locator("tbody tr").count()).toBe(
      12,
    );
    expect(problems).toEqual([]);
  });

  test("is not asked about for somebody who may not read it, who is told why not", async () => {
    const window = await place.signIn(`${acme}/members/dave`);
    const { page, open, problems } = window;
    const followed = followUsage(window);
    await open(`${acme}/usage`);
    const button = page.getByRole("button", { name: "Usage" });
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
    await button.press("Enter");
    await page.getByRole("dialog", { name: "You may not do this" }).getByText("iam.usage.get").waitFor();
    expect([followed.refused, problems]).toEqual([0, []]);
  });
});
