import { describe, expect, test } from "vitest";
import { checkOrganisationFile } from "../../../src/cli/file/organisation-file.ts";

function problemsOf(content: unknown): string[] {
  try {
    checkOrganisationFile(content, "org.json");
    return [];
  } catch (error) {
    return (error as Error).message
      .split("\n")
      .slice(1)
      .map((line) => line.trim());
  }
}

/** A file with one grant, which is valid except for the given fields. */
const granted = (fields: object) => ({
  groups: [{ name: "g" }],
  projects: ["p"],
  grants: [{ group: "g", project: "p", role: "read", ...fields }],
});

describe("reports the error and its location:", () => {
  test.each<[problem: string, content: object]>([
    ['org: must be a string, got number; write "7"', { org: 7 }],
    ["org: must not be blank", { org: " " }],
    ["members: must be a list, got string", { members: "alice" }],
    ["members[0]: must be a string, got null", { members: [null] }],
    ["members[0]: must be a string, got list", { members: [["alice"]] }],
    ["members[0]: must be valid Unicode; it contains an unpaired surrogate", { members: ["\ud800"] }],
    [
      "members[0].typ: is not a known key; the keys are name, display_name, description, type",
      { members: [{ name: "a", typ: "user" }] },
    ],
    ['admins[0].type: must be one of user, application, got "robot"', { admins: [{ name: "a", type: "robot" }] }],
    ["admins[0].name: is missing", { admins: [{ type: "user" }] }],
    ['projects[0]: must be a string, got boolean; write "true"', { projects: [true] }],
    ["grants: must be a list, got object", { grants: {} }],
    ['grants[0].group: there is no group "sre" in the file', granted({ group: "sre" })],
    ['grants[0].project: there is no project "b" in the file', granted({ project: "b" })],
    ["grants[0].group: must not be blank", granted({ group: "" })],
    ['grants[0].role: must be one of read, triage, write, maintain, admin, got "owner"', granted({ role: "owner" })],
    ["grants[0].role: must be one of read, triage, write, maintain, admin, got nothing", granted({ role: undefined })],
    ["grants[0].member: is not a known key; the keys are group, project, role", granted({ member: "alice" })],
    [
      'groups[0].members[1]: must be a string, got number; write "4"',
      { members: ["x"], groups: [{ name: "a", members: ["x", 4] }] },
    ],
    [
      'groups[0].maintainers[1]: there is no member "Y" in the file; list it in members, or import with --skip-unknown-members',
      { admins: ["b"], members: ["X"], groups: [{ name: "a", maintainers: ["x", "Y"], members: ["B"] }] },
    ],
    ['groups[0].parent: there is no group "b" in the file', { groups: [{ name: "a", parent: "b" }] }],
    [
      "groups[1].name: is also the name of groups[0]; names are compared without case",
      { groups: [{ name: "a" }, { name: "A" }] },
    ],
    ["groups[0].parent: closes a cycle: a → a", { groups: [{ name: "a", parent: "A" }] }],
    [
      "description: must be at most 2048 Unicode characters and must not contain NUL",
      { description: "x".repeat(2_049) },
    ],
    [
      "display_name: must hold at most 64 lowercase Latin letters (a-z), digits and dashes among its characters",
      { display_name: "x".repeat(65) },
    ],
    [
      "members[0]: conflicts with admins[0], which has the same name",
      { admins: [{ name: "a", type: "user" }], members: [{ name: "A", type: "application" }] },
    ],
  ])("%s", (problem, content) => {
    expect(problemsOf({ org: "acme", ...content })).toEqual([problem]);
  });

  test("a file without an org", () => {
    expect(problemsOf({})).toEqual(["org: is missing"]);
  });

  test("a cycle, once, with its members in order", () => {
    const groups = [
      { name: "top", parent: "c" },
      { name: "a", parent: "b" },
      { name: "b", parent: "c" },
      { name: "c", parent: "a" },
    ];
    expect(problemsOf({ org: "acme", groups })).toEqual(["groups[3].parent: closes a cycle: c → a → b → c"]);
  });

  test("at most twenty problems and the number of the others", () => {
    const problems = problemsOf({ org: "acme", members: Array.from({ length: 50 }, () => 1) });
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toBe("… and 30 more");
  });

  test("a key with control characters, escaped", () => {
    expect(problemsOf({ org: "acme", "\u001b[2J": 1 })[0]).toMatch(/^\\u\{1b\}\[2J: is not a known key/);
  });
});

test("treats null and absent lists as empty", () => {
  const file = checkOrganisationFile({ org: "acme", members: null, groups: [{ name: "a", parent: null }] }, "org.json");
  expect(file).toMatchObject({ members: [], projects: [], grants: [], groups: [{ parent: "", members: [] }] });
});

test("merges an admin with the member of the same name, in the spelling that comes first", () => {
  const { members, repeated } = checkOrganisationFile(
    { org: "acme", admins: ["Alice"], members: [{ name: "alice", display_name: "Alice Liddell" }, "bob", "bob"] },
    "org.json",
  );
  expect(members.map(({ name, displayName }) => [name, displayName])).toEqual([
    ["Alice", "Alice Liddell"],
    ["bob", ""],
  ]);
  expect(repeated).toBe(2);
});

test("counts a repeated grant once, and compares names without case", () => {
  const { grants, repeated } = checkOrganisationFile(
    {
      org: "acme",
      groups: [{ name: "SRE" }],
      projects: ["web"],
      grants: [
        { group: "sre", project: "web", role: "read" },
        { group: "SRE", project: "Web", role: "read" },
        { group: "sre", project: "web", role: "write" },
      ],
    },
    "org.json",
  );
  expect(grants.map(({ role }) => role)).toEqual(["read", "write"]);
  expect(repeated).toBe(1);
});

test("lists each admin once", () => {
  const { admins } = checkOrganisationFile({ org: "acme", admins: ["Bob", "bob"], members: ["bob", "al"] }, "org.json");
  expect(admins.map((name) => name.toLowerCase())).toEqual(["bob"]);
});
