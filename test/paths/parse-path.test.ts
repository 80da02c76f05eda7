import { describe, expect, test } from "vitest";
import { patterns } from "../../src/paths/patterns.ts";
import { type Reference, isName, parseResourcePath } from "../../src/paths/parse-path.ts";
import { thrownBy } from "./service-failure.ts";

const id = "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";
const byName = (value: string): Reference => ({ by: "name", value });
const byId = (value: string): Reference => ({ by: "id", value });
const nameRule =
  "must be a name (1 to 64 lowercase letters, digits and dashes, with a letter or digit at both ends) or @<id>";

describe("parses the path of a member:", () => {
  const readings: readonly [path: string, ...references: Reference[]][] = [
    ["/orgs/acme/members/alice", byName("acme"), byName("alice")],
    ["orgs/acme/members/alice", byName("acme"), byName("alice")],
    ["orgs/0/members/a", byName("0"), byName("a")],
    ["orgs/3com/members/007", byName("3com"), byName("007")],
    ["orgs/a--b/members/a-b-c", byName("a--b"), byName("a-b-c")],
    [`orgs/${"a".repeat(64)}/members/alice`, byName("a".repeat(64)), byName("alice")],
    ["orgs/orgs/members/members", byName("orgs"), byName("members")],
    [`orgs/@${id}/members/alice`, byId(id), byName("alice")],
    [`orgs/acme/members/@${id}`, byName("acme"), byId(id)],
    [`/orgs/@${id}/members/@${id}`, byId(id), byId(id)],
    [`orgs/acme/members/@${id.toUpperCase()}`, byName("acme"), byId(id)],
    [`orgs/acme/members/%40${id}`, byName("acme"), byId(id)],
    ["orgs/%61cme/members/al%69ce", byName("acme"), byName("alice")],
    ["orgs/00000000-0000-0000-0000-00000000000/members/a", byName("00000000-0000-0000-0000-00000000000"), byName("a")],
    ["orgs/@00000000-0000-0000-0000-000000000000/members/a", byId("00000000-0000-0000-0000-000000000000"), byName("a")],
  ];

  test.each(readings)("%s", (path, ...references) => {
    expect(parseResourcePath(patterns.Member, path, "path")).toEqual(references);
  });
});

describe("rejects a path with the segment and the reason:", () => {
  const form = "must have the form orgs/{org}/members/{member}";
  const refusals: readonly [path: string, description: string][] = [
    ["", `${form}, got ""`],
    ["/", `${form}, got "/"`],
    ["orgs/acme", `${form}, got "orgs/acme"`],
    ["orgs/acme/members", `${form}, got "orgs/acme/members"`],
    ["orgs/acme/members/alice/", `${form}, got "orgs/acme/members/alice/"`],
    ["//orgs/acme/members/alice", `${form}, got "//orgs/acme/members/alice"`],
    ["orgs/acme/members/alice/apiKeys/ci", `${form}, got "orgs/acme/members/alice/apiKeys/ci"`],
    ["orgs//members", `${form}, got "orgs//members"`],
    ["members/alice/orgs/acme", `${form}: segment 1 must be "orgs", got "members"`],
    ["Orgs/acme/members/alice", `${form}: segment 1 must be "orgs", got "Orgs"`],
    ["%6Frgs/acme/members/alice", `${form}: segment 1 must be "orgs", got "%6Frgs"`],
    ["orgs/acme/groups/alice", `${form}: segment 3 must be "members", got "groups"`],
    ["/orgs/acme/groups/alice", `${form}: segment 3 must be "members", got "groups"`],
    ["orgs/acme//alice", `${form}: segment 3 must be "members", got ""`],
    ["orgs//members/alice", "segment 2, the org, must not be empty"],
    ["orgs/acme/members/", "segment 4, the member, must not be empty"],
    ["orgs/Acme/members/alice", `segment 2, the org, ${nameRule}, got "Acme"`],
    ["orgs/acme/members/-alice", `segment 4, the member, ${nameRule}, got "-alice"`],
    ["orgs/acme/members/alice-", `segment 4, the member, ${nameRule}, got "alice-"`],
    ["orgs/acme/members/--", `segment 4, the member, ${nameRule}, got "--"`],
    ["orgs/acme/members/al_ice", `segment 4, the member, ${nameRule}, got "al_ice"`],
    ["orgs/acme/members/alice ", `segment 4, the member, ${nameRule}, got "alice "`],
    ["orgs/acme/members/alice\n", `segment 4, the member, ${nameRule}, got "alice\\n"`],
    ["orgs/acme/members/älice", `segment 4, the member, ${nameRule}, got "älice"`],
    ["orgs/acme/members/alice%2Fbob", `segment 4, the member, ${nameRule}, got "alice/bob"`],
    ["orgs/acme/members/%2561lice", `segment 4, the member, ${nameRule}, got "%61lice"`],
    ["orgs/acme/members/%00", `segment 4, the member, ${nameRule}, got "\\u0000"`],
    ["orgs/acme/members/..", `segment 4, the member, ${nameRule}, got ".."`],
    ["orgs/acme/members/al%ice", 'segment 4 has invalid percent-encoding: "al%ice"'],
    ["orgs/acme/members/alice%", 'segment 4 has invalid percent-encoding: "alice%"'],
    ["orgs/acme/members/%ff", 'segment 4 has invalid percent-encoding: "%ff"'],
    ["orgs/acme/members/@", 'segment 4 must be @ and a UUID, got "@"'],
    ["orgs/@acme/members/alice", 'segment 2 must be @ and a UUID, got "@acme"'],
    [`orgs/acme/members/@@${id}`, `segment 4 must be @ and a UUID, got "@@${id}"`],
    [`orgs/acme/members/@{${id}}`, `segment 4 must be @ and a UUID, got "@{${id}}"`],
    [
      `orgs/acme/members/@${id.replaceAll("-", "")}`,
      `segment 4 must be @ and a UUID, got "@${id.replaceAll("-", "")}"`,
    ],
    [`orgs/${"a".repeat(65)}/members/alice`, `segment 2, the org, ${nameRule}, got "${"a".repeat(65)}"`],
    [`orgs/${"a".repeat(81)}/members/alice`, `segment 2, the org, ${nameRule}, got "${"a".repeat(80)}…"`],
  ];

  test.each(refusals)("%j", (path, description) => {
    const error = thrownBy(() => parseResourcePath(patterns.Member, path, "path"));
    expect(error.reason).toBe("PATH_INVALID");
    expect(error.violations).toEqual([{ field: "path", description, rule: "path" }]);
    expect(error.message).toBe(`path: ${description}`);
  });
});

describe("where names are keys in maps, a name is an identifier:", () => {
  test.each(["a", "cpu_cores", "iso_27001", "a__", "a".repeat(63)])("%s", (name) => {
    expect(parseResourcePath(patterns.QuantityKind, `/quantityKinds/${name}`, "path")).toEqual([byName(name)]);
  });

  test("an id and a wildcard are written as elsewhere", () => {
    expect(parseResourcePath(patterns.QualityKind, `qualityKinds/@${id}`, "path")).toEqual([byId(id)]);
    expect(parseResourcePath(patterns.QualityKind, "qualityKinds/-", "path", "anywhere")).toEqual([{ by: "any" }]);
  });

  test.each(["cpu-cores", "_a", "1st", "Cores", "ä", "a.b", "a".repeat(64)])("not %s", (name) => {
    const error = thrownBy(() => parseResourcePath(patterns.QuantityKind, `quantityKinds/${name}`, "path"));
    expect(error.violations).toEqual([
      {
        field: "path",
        description: `segment 2, the quantityKind, must be a name (1 to 63 lowercase letters, digits and underscores, with a letter first) or @<id>, got "${name}"`,
        rule: "path",
      },
    ]);
  });

  test("a name elsewhere is none", () => {
    const error = thrownBy(() => parseResourcePath(patterns.ResourceType, "services/a/resourceTypes/a_b", "path"));
    expect(error.violations[0]?.description).toBe(`segment 4, the resourceType, ${nameRule}, got "a_b"`);
  });
});

describe("a name shaped like a UUID", () => {
  test.each([id, id.toUpperCase()])("is rejected with the hint to write @ before it: %s", (text) => {
    const error = thrownBy(() => parseResourcePath(patterns.Org, `orgs/${text}`, "path"));
    expect(error.violations[0]?.description).toBe(
      `segment 2, the org, looks like an id; write it with a leading @: @${id}`,
    );
  });

  test("is not a valid name", () => {
    expect(isName(id)).toBe(false);
    expect(isName(`${id}0`)).toBe(true);
  });
});

test("the error names the field of the path", () => {
  const error = thrownBy(() => parseResourcePath(patterns.Member, "bob", "group_member.member_path"));
  expect(error.violations[0]?.field).toBe("group_member.member_path");
});

test("a path of 1024 characters is parsed, a longer one is rejected without parsing", () => {
  const spell = (length: number) => `orgs/${"%61".repeat(64)}/members/`.padEnd(length, "%62");
  // 1024 characters, of which only the name of the member is invalid.
  expect(thrownBy(() => parseResourcePath(patterns.Member, spell(1024), "path")).message).toMatch(/^path: segment 4/);
  expect(thrownBy(() => parseResourcePath(patterns.Member, spell(1025), "path")).violations).toEqual([
    { field: "path", description: "must be at most 1024 characters long", rule: "path" },
  ]);
  expect(thrownBy(() => parseResourcePath(patterns.Org, "/".repeat(1_000_000), "path")).message).toBe(
    "path: must be at most 1024 characters long",
  );
});

test("the longest valid path, with every character percent-encoded, is accepted", () => {
  const encoded = Array.from(`@${id}`, (character) => `%${character.charCodeAt(0).toString(16)}`).join("");
  const path = `/orgs/${encoded}/members/${encoded}/apiKeys/${encoded}`;
  expect(parseResourcePath(patterns.ApiKey, path, "path")).toEqual([byId(id), byId(id), byId(id)]);
});
