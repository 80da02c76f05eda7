import { describe, expect, test } from "vitest";
import { timeBudgets } from "../time-budgets.ts";
import { judgeFolderTimes } from "./judge-folder-times.ts";

const budgets = { access: 300, api: 200, cli: 50, database: 100, http: 60, paths: 1 };

/** Returns what the folders of the budgets take on a machine that is so many times slower, with some of them changed. */
function run(slowness: number, changes: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> {
  const all = Object.entries(budgets);
  return Object.fromEntries(all.map(([name, budget]) => [name, budget * slowness * (changes[name] ?? 1)]));
}

describe("the times of folders", () => {
  test.each([0.3, 1, 2, 5])("are accepted on a machine that is %d times slower", (slowness) => {
    expect(judgeFolderTimes(run(slowness), budgets).errors).toEqual([]);
  });

  test.each([1, 1.2, 1.5])("are refused on a machine that is %d times slower if one more than doubled", (slowness) => {
    for (const folder of ["access", "api", "cli", "database", "http"]) {
      expect(judgeFolderTimes(run(slowness, { [folder]: 2.01 }), budgets).errors).toEqual([
        expect.stringContaining(`test/${folder} took `),
      ]);
    }
  });

  test.each([1.6, 2, 5])("are only told on a machine that is %d times slower if one more than doubled", (slowness) => {
    const { errors, warnings } = judgeFolderTimes(run(slowness, { api: 2.01 }), budgets);
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [expect.stringContaining("test/api took ")] });
  });

  test("are accepted if one almost doubled", () => {
    expect(judgeFolderTimes(run(1, { api: 1.99 }), budgets).errors).toEqual([]);
  });

  test("are refused with the folder, what it took, what is accepted and what to do", () => {
    expect(judgeFolderTimes(run(1, { api: 3 }), budgets).errors).toEqual([
      "test/api took 600 s, and its budget is 200 s: at most 400 s are accepted on this machine. " +
        "Make its tests faster; if what they test has grown, raise its budget in test/time-budgets.ts",
    ]);
  });

  test("are refused for each of several folders", () => {
    expect(judgeFolderTimes(run(1, { access: 3, cli: 3 }), budgets).errors).toEqual([
      expect.stringContaining("test/access took 900 s"),
      expect.stringContaining("test/cli took 150 s"),
    ]);
  });

  test("of small folders may be half a minute longer", () => {
    expect(judgeFolderTimes({ ...run(1), paths: 30 }, budgets).errors).toEqual([]);
    expect(judgeFolderTimes({ ...run(1), paths: 40 }, budgets).errors).toEqual([
      expect.stringContaining("test/paths took 40 s"),
    ]);
  });

  test("do not become acceptable because small folders are slow", () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`small-${index}`, 1]));
    const slow = Object.fromEntries(Object.keys(many).map((name) => [name, 6]));
    const { slowness, errors } = judgeFolderTimes({ ...run(1, { api: 3 }), ...slow }, { ...budgets, ...many });
    expect({ slowness, errors }).toEqual({ slowness: 1, errors: [expect.stringContaining("test/api took 600 s")] });
  });

  test("are listed with the budgets, the slowest first", () => {
    const { slowness, times } = judgeFolderTimes(run(2), budgets);
    expect(slowness).toBe(2);
    expect(times.map(({ folder }) => folder)).toEqual(["access", "api", "database", "http", "cli", "paths"]);
    expect(times[0]).toEqual({ folder: "access", seconds: 600, budget: 300, limit: 1200 });
  });

  test("are refused without a budget", () => {
    expect(judgeFolderTimes({ ...run(1), jobs: 7.2 }, budgets).errors).toEqual([
      "test/jobs has no budget: add what it took, 8 s, to test/time-budgets.ts",
    ]);
  });

  test("are refused without a budget, or without a folder, on a slow machine, too", () => {
    const { errors } = judgeFolderTimes({ ...run(3), jobs: 7.2 }, { ...budgets, gone: 60 });
    expect(errors).toEqual([
      expect.stringContaining("test/jobs has no budget"),
      expect.stringContaining("test/gone has no tests"),
    ]);
  });

  test("are missing for a budget whose folder is gone", () => {
    expect(judgeFolderTimes(run(1), { ...budgets, jobs: 60 }).errors).toEqual([
      "test/jobs has no tests: remove its budget from test/time-budgets.ts",
    ]);
  });

  test("are accepted with the committed budgets, and refused if a folder of some size takes three times as long", () => {
    expect(judgeFolderTimes(timeBudgets, timeBudgets).errors).toEqual([]);
    for (const [folder, budget] of Object.entries(timeBudgets).filter(([, seconds]) => seconds >= 20)) {
      const seconds = { ...timeBudgets, [folder]: 3 * budget };
      expect(judgeFolderTimes(seconds, timeBudgets).errors).toHaveLength(1);
    }
  });
});
