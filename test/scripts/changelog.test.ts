import { expect, test } from "vitest";
import { releaseChangelog, requireHigher } from "../../scripts/release/changelog.ts";

const changelog = `# Changelog

Versions follow semantic versioning.

## Unreleased

- Groups can be nested.
- Errors name
  the field.

## 0.1.0 (2026-01-01)

- Orgs.
`;

test("a release moves the unreleased entries below its version, and uses them as its notes", () => {
  const { text, notes } = releaseChangelog(changelog, "0.2.0", "2026-11-22");
  expect(notes).toBe("- Groups can be nested.\n- Errors name\n  the field.");
  expect(text).toBe(changelog.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 (2026-11-22)\n"));
});

test("a changelog needs no previous version", () => {
  const { text, notes } = releaseChangelog("# Changelog\n\n## Unreleased\n\n- All.\n", "0.1.0", "2026-01-01");
  expect(notes).toBe("- All.");
  expect(text).toBe("# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- All.\n");
});

test.each([
  [
    "there are no unreleased entries",
    changelog.replace(/- Groups[^]*field\.\n/, ""),
    "0.2.0",
    'no entries below "## Unreleased"',
  ],
  ["there is no section for unreleased entries", "# Changelog\n", "0.2.0", 'must have a line "## Unreleased"'],
  ["the version has a section already", changelog, "0.1.0", "has a section 0.1.0 already"],
])("a release is rejected if %s", (_what, text, version, problem) => {
  expect(() => releaseChangelog(text, version, "2026-11-22")).toThrow(problem);
});

test.each([
  ["0.1.0", "0.1.1"],
  ["0.9.9", "0.10.0"],
  ["0.10.3", "1.0.0"],
])("%s can be followed by %s", (current, next) => {
  expect(() => requireHigher(current, next)).not.toThrow();
});

test.each([
  ["0.1.0", "0.1.0", "must be higher than 0.1.0, got 0.1.0"],
  ["0.10.0", "0.9.0", "must be higher than 0.10.0, got 0.9.0"],
  ["1.2.3", "1.1.9", "must be higher than 1.2.3, got 1.1.9"],
  ["0.1.0", "", 'has the form major.minor.patch, such as 1.2.0; got ""'],
  ["0.1.0", "v0.2.0", 'got "v0.2.0"'],
  ["0.1.0", "0.2.0-rc.1", 'got "0.2.0-rc.1"'],
  ["0.1.0", "0.02.0", 'got "0.02.0"'],
])("%s cannot be followed by %j", (current, next, problem) => {
  expect(() => requireHigher(current, next)).toThrow(problem);
});
