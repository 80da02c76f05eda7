// Makes a release of the working tree: `npm run release -- 0.2.0`. Sets the version of package.json, gives the entries of
// "Unreleased" in CHANGELOG.md a heading with the version and date, writes the released contract (proto/released.binpb) and the commit
// that the next version runs beside (test/command/version-before), commits all of that and tags the commit with the entries as notes.
// Pushes nothing. Run `.ci/run` before.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { releaseChangelog, requireHigher } from "./release/changelog.ts";

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: "utf8" }).trim();

try {
  release(process.argv[2] ?? "");
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @throws Error before anything is written if the tree has changes, or the version or changelog does not allow a release. */
function release(version: string): void {
  const { version: current } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  requireHigher(current, version);
  const changes = run("git", "status", "--porcelain");
  if (changes !== "") throw new Error(`the working tree has changes that are not committed:\n${changes}`);
  const tag = `v${version}`;
  if (run("git", "tag", "--list", tag) !== "") throw new Error(`there is a tag ${tag} already`);
  const today = new Date().toISOString().slice(0, 10);
  const { text, notes } = releaseChangelog(readFileSync("CHANGELOG.md", "utf8"), version, today);

  writeFileSync("CHANGELOG.md", text);
  writeFileSync("test/command/version-before", `${run("git", "rev-parse", "HEAD")}\n`);
  run("npm", "version", version, "--no-git-tag-version");
  run("npm", "run", "release:proto");
  run("npm", "run", "generate");
  run("git", "commit", "--all", "--message", `Release ${version}`);
  run("git", "tag", "--annotate", tag, "--cleanup=verbatim", "--message", `Tenantry ${version}\n\n${notes}\n`);
  console.log(`Released ${version}: "git push --follow-tags" publishes the commit and its tag.`);
}
