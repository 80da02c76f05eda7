import { describe, expect, test } from "vitest";
import { type AnyPath, parseAnyPath, parseResourcePath, parseSingletonPath } from "../../src/paths/parse-path.ts";
import { type PathPattern, allPatterns, otherPatterns, patterns } from "../../src/paths/patterns.ts";
import { thrownBy } from "./service-failure.ts";

const id = "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";
const platform: PathPattern = [];
const scopes: readonly PathPattern[] = [platform, patterns.Org, patterns.Project, patterns.Customer];

const violationOf = (run: () => unknown): unknown => {
  const { reason, violations } = thrownBy(run);
  return { reason, violations };
};

const violation = (description: string): unknown => ({
  reason: "PATH_INVALID",
  violations: [{ field: "scope_path", description, rule: "path" }],
});

describe("a path of one of several patterns", () => {
  const parse = (text: string, wildcards?: "anywhere"): AnyPath => parseAnyPath(scopes, text, "scope_path", wildcards);

  test.each([
    ["", platform, []],
    ["/", platform, []],
    ["orgs/acme", patterns.Org, [{ by: "name", value: "acme" }]],
    ["/orgs/acme", patterns.Org, [{ by: "name", value: "acme" }]],
    [`/customers/@${id.toUpperCase()}`, patterns.Customer, [{ by: "id", value: id }]],
    [
      "/orgs/acme/projects/web",
      patterns.Project,
      [
        { by: "name", value: "acme" },
        { by: "name", value: "web" },
      ],
    ],
  ])("%j is read as the pattern that has its collections", (text, pattern, references) => {
    expect(parse(text)).toEqual({ pattern, references });
  });

  test.each(["//", "//orgs/acme", "services/iam", "instances/db-1"])(
    "%j fits none: the error lists the forms",
    (text) => {
      const forms = "empty, orgs/{org}, orgs/{org}/projects/{project}, customers/{customer}";
      expect(violationOf(() => parse(text))).toEqual(
        violation(`must have one of the forms ${forms}, got ${JSON.stringify(text)}`),
      );
    },
  );

  test.each([
    ["orgs", "orgs/{org}", "orgs/{org}/projects/{project}, empty, customers/{customer}"],
    ["orgs/acme/", "orgs/{org}", "orgs/{org}/projects/{project}, empty, customers/{customer}"],
    ["/org/acme", "orgs/{org}", "empty, orgs/{org}/projects/{project}, customers/{customer}"],
    ["orgs/acme/projects", "orgs/{org}/projects/{project}", "orgs/{org}, empty, customers/{customer}"],
    ["/Orgs/acme/projcets/web", "orgs/{org}/projects/{project}", "empty, orgs/{org}, customers/{customer}"],
  ])("%j fits none: the error names the nearest form, and then the others", (text, nearest, others) => {
    expect(violationOf(() => parse(text))).toEqual(
      violation(`must have the form ${nearest}, or one of the forms ${others}, got ${JSON.stringify(text)}`),
    );
  });

  test("of many forms, the error lists the nearest and six that begin as the path does", () => {
    const problemOf = (text: string) =>
      thrownBy(() => parseAnyPath(allPatterns, text, "filter")).violations[0]?.description;
    const more = `${allPatterns.length - 7} others`;
    expect(problemOf("/orgs/acme/member/alice/apikeys/ci")).toMatch(
      new RegExp(
        String.raw`^must have the form orgs/{org}/members/{member}/apiKeys/{api_key}, or one of the forms (orgs/[^,]+, ){6}${more}, got `,
      ),
    );
    expect(problemOf("/customers/acme/things/alice")).toMatch(/^must have one of the forms (customers\/[^,]+, ){4}/);
    expect(problemOf("/".repeat(2_000))?.length).toBeLessThan(600);
  });

  test("one pattern alone is named by its own error", () => {
    expect(violationOf(() => parseAnyPath([patterns.Org], "services/iam", "scope_path"))).toEqual(
      violation('must have the form orgs/{org}: segment 1 must be "orgs", got "services"'),
    );
    expect(violationOf(() => parseAnyPath([platform], "orgs/acme", "scope_path"))).toEqual(
      violation('must have one of the forms empty, got "orgs/acme"'),
    );
    expect(parseAnyPath([platform], "", "scope_path")).toEqual({ pattern: platform, references: [] });
  });

  test("a dash is refused unless it is allowed", () => {
    expect(parse("orgs/-/projects/-", "anywhere").references).toEqual([{ by: "any" }, { by: "any" }]);
    expect(violationOf(() => parse("orgs/-"))).toEqual(
      violation('segment 2 must name one org: "-" stands for all of them'),
    );
  });

  test("the collections of a path that is too long are looked at, and its length is what is wrong", () => {
    expect(violationOf(() => parse(`orgs/${"a".repeat(1_020)}`))).toEqual(
      violation("must be at most 1024 characters long"),
    );
  });
});

describe("the path of a singleton", () => {
  const parents: readonly PathPattern[] = [patterns.Customer, patterns.Org];
  const parse = (text: string): AnyPath => parseSingletonPath("Quota", parents, text, "scope_path");

  test.each([
    ["/orgs/acme/quota", patterns.Org, [{ by: "name", value: "acme" }]],
    [`customers/@${id}/quota`, patterns.Customer, [{ by: "id", value: id }]],
  ])("%j is read as that of its parent", (text, pattern, references) => {
    expect(parse(text)).toEqual({ pattern, references });
  });

  test.each([
    "",
    "/quota",
    "quota",
    "/orgs/acme",
    "/orgs/acme/quotas",
    "/orgs/acme/quota/",
    "/orgs/acme/projects/p/quota",
  ])("%j is refused: the error lists the forms", (text) => {
    const forms = "customers/{customer}/quota, orgs/{org}/quota";
    expect(violationOf(() => parse(text))).toEqual(
      violation(`must have one of the forms ${forms}, got ${JSON.stringify(text)}`),
    );
  });
});

test.each([
  ["orgs/acme", 'must have the form orgs/{org}/members/{member}, got "orgs/acme"'],
  [`orgs/${"a".repeat(81)}`, `must have the form orgs/{org}/members/{member}, got "orgs/${"a".repeat(75)}…"`],
  ["orgs/acme/groups/sre", 'must have the form orgs/{org}/members/{member}: segment 3 must be "members", got "groups"'],
])("the error for %j says which segment is wrong, and shows 80 characters at most", (text, description) => {
  expect(violationOf(() => parseResourcePath(patterns.Member, text, "scope_path"))).toEqual(violation(description));
});

test("a path of the platform is empty", () => {
  expect(violationOf(() => parseResourcePath(platform, "orgs/acme", "scope_path"))).toEqual(
    violation('must be empty, got "orgs/acme"'),
  );
  expect(parseResourcePath(otherPatterns.predefinedRole, "roles/owner", "scope_path")).toEqual([
    { by: "name", value: "owner" },
  ]);
});
