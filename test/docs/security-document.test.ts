// docs/security.md says which tests show that an attacker is held. A test that is renamed or removed there would show nothing.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const flat = (text: string): string => text.replaceAll("\\", "").replace(/\s+/g, " ");

test("the tests that docs/security.md names exist", () => {
  const document = readFileSync(join(root, "docs/security.md"), "utf8");
  const tests = globSync("test/**/*.ts", { cwd: root })
    .filter((file) => file !== "test/docs/security-document.test.ts")
    .map((file) => flat(readFileSync(join(root, file), "utf8")))
    .join("\n");
  // Paragraphs, items and rows, in each of which quotes come in pairs.
  const names = document.split(/\n\s*\n|\n(?=[-|] ?)/).flatMap((part) =>
    flat(part)
      .split('"')
      .filter((_text, index) => index % 2 === 1),
  );
  const missing = names.filter(
    (name) => !name.split(/\.\.\.|%s/).every((part) => tests.includes(part.replace(/^[ ,]+|[ ,]+$/g, ""))),
  );
  expect(names.length).toBeGreaterThan(200);
  expect(missing).toEqual([]);
});
