// Tests that what is listed as led by no org is still there, which else only a run of all tests says.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { notLed } from "../../scripts/statements/not-led.ts";

const places = notLed.map(({ start = "" }) => start).filter((start) => start.startsWith("src/"));

test.each(places)("%s", (place) => {
  const [file = "", name] = place.split(/[ :]/);
  expect(existsSync(file), file).toBe(true);
  if (name !== undefined) expect(readFileSync(file, "utf8")).toMatch(new RegExp(`\\b${name}\\b`));
});
