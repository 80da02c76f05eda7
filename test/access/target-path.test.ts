// Tests how the path of the target of a check is read.
import { describe, expect, test } from "vitest";
import { isInService, orgIn, parseTargetPath } from "../../src/access/evaluation/target-path.ts";
import type { ServiceError } from "../../src/errors/service-error.ts";
import { patterns } from "../../src/paths/patterns.ts";

const parse = (text: string) => parseTargetPath(text, "resource_path");
const name = (value: string) => ({ by: "name", value });

describe("a path names", () => {
  test.each([
    ["", [], [], undefined],
    ["/", [], [], undefined],
    ["/roles/owner", [], [], undefined],
    ["/roleBindings/one", [], [], undefined],
    ["/customers/acme", patterns.Customer, ["acme"], ""],
    ["customers/acme", patterns.Customer, ["acme"], ""],
    ["/customers/acme/roleBindings/one", patterns.Customer, ["acme"], "/roleBindings/one"],
    ["/services/compute", patterns.Service, ["compute"], ""],
    ["/services/compute/regions/eu", patterns.Service, ["compute"], "/regions/eu"],
    ["/orgs/acme", patterns.Org, ["acme"], ""],
    ["/orgs/%61cme/a/b", patterns.Org, ["acme"], "/a/b"],
    ["/orgs/acme/members/alice", patterns.Org, ["acme"], "/members/alice"],
    ["/orgs/acme/projects", patterns.Org, ["acme"], "/projects"],
    ["/orgs/acme/buckets/projects", patterns.Org, ["acme"], "/buckets/projects"],
    ["/orgs/acme/projects/web", patterns.Project, ["acme", "web"], ""],
    ["/orgs/acme/projects/web/instances/db-1", patterns.Project, ["acme", "web"], "/instances/db-1"],
    ["/orgs/acme/projects/web/a/A~_.@:-9", patterns.Project, ["acme", "web"], "/a/A~_.@:-9"],
    [`/orgs/acme/a/${"b".repeat(128)}`, patterns.Org, ["acme"], `/a/${"b".repeat(128)}`],
  ] as const)("%s", (text, pattern, names, rest) => {
    expect(parse(text)).toEqual({ pattern, references: names.map(name), ...(rest !== undefined && { rest }) });
  });
});

const segment = (number: number): string =>
  `segment ${number} must be 1 to 128 letters, digits and . _ ~ @ : - and neither . nor ..`;
const unknown =
  'must be empty or start with "/orgs/", "/customers/", "/qualityKinds/", "/quantityKinds/", "/services/", "/roles/", "/roleBindings/"';

describe("fails for", () => {
  test.each([
    ["/teams/acme", unknown],
    ["/Orgs/acme", unknown],
    ["//orgs/acme", unknown],
    ["/orgs/acme/members/", segment(4)],
    ["/orgs/acme/members//x", segment(4)],
    ["/orgs/acme/a/.", segment(4)],
    ["/orgs/acme/a/..", segment(4)],
    ["/orgs/acme/./b", segment(3)],
    ["/orgs/acme/a/b c", segment(4)],
    ["/orgs/acme/a/%62", segment(4)],
    ["/orgs/acme/a/bü", segment(4)],
    [`/orgs/acme/a/${"b".repeat(129)}`, segment(4)],
    ["/orgs/acme/projects/web/..", segment(5)],
    ["/services/compute/ü/eu", segment(3)],
  ])("%s", (text, description) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        reason: "PATH_INVALID",
        violations: [{ field: "resource_path", description, rule: "path" }],
      }) as ServiceError,
    );
  });

  test.each(["/orgs/Acme", "/orgs", "/customers", "/roles/Owner", "/roles", "/roles/owner/x", "/orgs/acme/projects/W"])(
    "%s, like any path of this API",
    (text) => expect(() => parse(text)).toThrow(expect.objectContaining({ reason: "PATH_INVALID" }) as ServiceError),
  );

  test("a path of 1025 characters, and no shorter one", () => {
    const long = `/orgs/acme/${"a/b/".repeat(253)}c`;
    expect(long.length).toBe(1024);
    expect(parse(long).rest?.length).toBe(1024 - "/orgs/acme".length);
    expect(() => parse(`${long}d`)).toThrow("at most 1024");
  });
});

test("a path is in a service of the catalog, or in an org", () => {
  const places = ["/services/compute/regions/eu", "/orgs/acme/members/alice", "/customers/acme", ""].map(parse);
  expect(places.map(isInService)).toEqual([true, false, false, false]);
  expect(places.map(orgIn)).toEqual([undefined, name("acme"), undefined, undefined]);
});
