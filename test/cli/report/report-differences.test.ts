import { expect, test } from "vitest";
import { reportDifferences } from "../../../src/cli/report/report-differences.ts";

test("lists the first 20 differences of each kind, sorted, or all of them", () => {
  const of = (kind: "member" | "group") =>
    Array.from({ length: 25 }, (_, index) => ({ kind, label: `${kind}-${99 - index}`, fields: [] }));
  const differences = [...of("group"), ...of("member")];
  const [[summary] = [], ...short] = reportDifferences(differences, false).filter((lines) => lines.length > 0);
  expect(summary).toMatch(/^50 differences /);
  expect(short).toHaveLength(2);
  expect(short[0]?.slice(0, 2)).toEqual(["members that are not in the file: 25", "  member-75"]);
  expect(short.map((lines) => lines.slice(-2))).toEqual([
    ["  member-94", "  … and 5 more; --verbose shows all"],
    ["  group-94", "  … and 5 more; --verbose shows all"],
  ]);
  expect(reportDifferences(differences, true).flat().slice(-1)).toEqual(["  group-99"]);
});
