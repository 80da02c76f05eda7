// Finds the test files that use the shared PostgreSQL server: those that import `test-database.ts`, directly or indirectly.
import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");
const testDatabase = join(import.meta.dirname, "test-database.ts");

/** Returns their paths below the root of the project. */
export function databaseTests(): string[] {
  return globSync("test/**/*.test.ts", { cwd: root }).filter((file) => imports(join(root, file)).has(testDatabase));
}

/** Returns all files that a file imports, directly or indirectly. */
function imports(file: string, found = new Set<string>()): Set<string> {
  for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(/\bfrom "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/g)) {
    const imported = join(dirname(file), specifier);
    if (found.has(imported) || !isFile(imported)) continue;
    found.add(imported);
    imports(imported, found);
  }
  return found;
}

/** What looks like an import may be a text in a test. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
