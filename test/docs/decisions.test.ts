// The index of the decisions has each of them, with its title and a status.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "../../docs/decisions");

test("the index lists each decision once, with its number, title and status", () => {
  const rows = readFileSync(join(folder, "README.md"), "utf8")
    .split("\n")
    .filter((line) => /^\| \d/.test(line));
  const listed = rows.map((row) => row.slice(2, row.lastIndexOf(" | ")));
  const pages = globSync("[0-9]*.md", { cwd: folder }).toSorted();
  const expected = pages.map((page) => {
    const title = /^# (\d+)\. (.+)\n/.exec(readFileSync(join(folder, page), "utf8"));
    return `${Number(page.slice(0, 4))} | [${title?.[2]}](${page})`;
  });
  expect(listed.toSorted((one, other) => Number.parseInt(one) - Number.parseInt(other))).toEqual(expected);
  expect(rows.filter((row) => !/\| (?:in force|replaced)[^|]* \|$/.test(row))).toEqual([]);
});
