import { expect, test } from "vitest";
import { rollsOver } from "../../../src/rest/json/parse-timestamp.ts";

test.each([
  "2027-02-30T00:00:00Z",
  "2027-02-29T00:00:00Z",
  "2100-02-29T00:00:00Z",
  "0004-02-30T00:00:00Z",
  "2026-04-31T12:00:00+02:00",
  "2026-06-31T23:59:59.5Z",
  "2026-01-32T00:00:00Z",
  "2026-01-31T24:00:00Z",
])("detects that %s rolls over", (text) => {
  expect(rollsOver(text)).toBe(true);
});

test.each([
  "2028-02-29T00:00:00Z",
  "2000-02-29T23:59:59-12:00",
  "0004-02-29T00:00:00Z",
  "2026-12-31T23:59:59Z",
  "soon",
  "",
])("detects that %j does not roll over", (text) => {
  expect(rollsOver(text)).toBe(false);
});
