// The parts of CHANGELOG.md that a release reads and writes.

/** The effects of a release on the changelog. */
export interface ReleasedChangelog {
  /** The changelog with the entries of "Unreleased" below the version and date, and an empty "Unreleased" above. */
  readonly text: string;
  /** The entries of the release, for its tag. */
  readonly notes: string;
}

const unreleased = "## Unreleased";

/**
 * Moves the unreleased entries below a heading for the version.
 *
 * @param date as `2026-11-22`.
 * @throws Error if there is no "Unreleased", if it has no entries, or if the version already has a section.
 */
export function releaseChangelog(changelog: string, version: string, date: string): ReleasedChangelog {
  const lines = changelog.split("\n");
  if (lines.some((line) => line.startsWith(`## ${version} `) || line === `## ${version}`)) {
    throw new Error(`CHANGELOG.md has a section ${version} already`);
  }
  const start = lines.indexOf(unreleased);
  if (start === -1) throw new Error(`CHANGELOG.md must have a line "${unreleased}"`);
  const next = lines.findIndex((line, index) => index > start && line.startsWith("## "));
  const end = next === -1 ? lines.length : next;
  const notes = lines
    .slice(start + 1, end)
    .join("\n")
    .trim();
  if (notes === "") throw new Error(`CHANGELOG.md has no entries below "${unreleased}"`);
  const released = [unreleased, "", `## ${version} (${date})`, "", notes, ""];
  return { text: [...lines.slice(0, start), ...released, ...lines.slice(end)].join("\n"), notes };
}

/**
 * Checks that a version follows another one.
 *
 * @throws Error if one is not `major.minor.patch`, or if the next is not higher.
 */
export function requireHigher(current: string, next: string): void {
  const [before, after] = [numbersOf(current), numbersOf(next)];
  const differing = before.findIndex((number, index) => number !== after[index]);
  if (differing === -1 || (after[differing] ?? 0) < (before[differing] ?? 0)) {
    throw new Error(`the version must be higher than ${current}, got ${next}`);
  }
}

function numbersOf(version: string): number[] {
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(version);
  if (match === null) throw new Error(`a version has the form major.minor.patch, such as 1.2.0; got "${version}"`);
  return match.slice(1).map(Number);
}
