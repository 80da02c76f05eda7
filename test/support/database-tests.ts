// Finds the test files that a run on a named server has.
import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");
const testDatabase = join(import.meta.dirname, "test-database.ts");

/** Folders of tests whose statements the tests of other folders send, too, or those that run in turn. */
const alike = ["test/access/", "test/api/", "test/cli/", "test/docs/", "test/rest/"];

/** Files in these folders with statements of their own, or about what statements do to each other. */
export const different = ["test/api/authorize.test.ts", "test/api/races.test.ts"];

/**
 * Returns the paths below the root of the project: files that use the shared PostgreSQL server, because they import
 * `test-database.ts`, directly or indirectly, and whose statements no other file sends, or whose tests run in turn.
 */
export function namedServerTests(): string[] {
  return databaseTests().filter(
    (file) => different.includes(file) || !alike.some((folder) => file.startsWith(folder)) || runsInTurn(file),
  );
}

/** Reports whether a run on the embedded server leaves out tests of the file. */
export function runsInTurn(file: string): boolean {
  return /\b(?:(?:run|protocols)InTurn\(|isOnNamedServer\b)/.test(readFileSync(join(root, file), "utf8"));
}

function databaseTests(): string[] {
  const imported = new Map<string, readonly string[]>();
  return globSync("test/**/*.test.ts", { cwd: root }).filter((file) =>
    reaches(testDatabase, join(root, file), imported, new Set()),
  );
}

/**
 * Reports whether a file is another one, or imports it, directly or indirectly.
 *
 * @param imported what each file imports, as far as it was read.
 * @param seen the files that do not lead there, or are being followed.
 */
function reaches(wanted: string, file: string, imported: Map<string, readonly string[]>, seen: Set<string>): boolean {
  if (file === wanted) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  const imports = imported.get(file) ?? importsOf(file);
  imported.set(file, imports);
  return imports.some((each) => reaches(wanted, each, imported, seen));
}

function importsOf(file: string): readonly string[] {
  const specifiers = readFileSync(file, "utf8").matchAll(/\bfrom "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/g);
  return [...specifiers].map(([, from, dynamic]) => join(dirname(file), from ?? dynamic ?? "")).filter(isFile);
}

/** What looks like an import may be a text in a test. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
