// Checks that what docs/clients.md shows is what the recipes run.
import { globSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const document = readFileSync(join(root, "docs/clients.md"), "utf8");
const recipes = globSync("examples/clients/**/*", { cwd: root })
  .map((name) => join(root, name))
  .filter((path) => statSync(path).isFile())
  .map((path) => readFileSync(path, "utf8"));
const blocks = [...document.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, text = ""]) => text);

test.each(blocks)("is in a recipe:\n%s", (block) => {
  expect(recipes.some((recipe) => recipe.includes(block))).toBe(true);
});

test.each(globSync("examples/clients/*/run.sh", { cwd: root }))("names %s", (path) => {
  expect(document).toContain(`(../${path.replace("/run.sh", "")})`);
});
