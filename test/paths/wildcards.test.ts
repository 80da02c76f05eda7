import { describe, expect, test } from "vitest";
import { patterns } from "../../src/paths/patterns.ts";
import { type Wildcards, parseResourcePath } from "../../src/paths/parse-path.ts";
import { thrownBy } from "./service-failure.ts";

const id = "@01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";
const mustNameOne = (segment: number, singular: string) =>
  `segment ${segment} must name one ${singular}: "-" stands for all of them`;
const needsId = (segment: number) =>
  `segment ${segment}: "-" is allowed only before an id in a later segment, written @<id>`;
const shared = (segment: number) =>
  `segment ${segment}: "-" is not allowed before the id of a member or subgroup, which can be in several groups`;

interface Case {
  readonly pattern: keyof typeof patterns;
  readonly path: string;
  /** The error; undefined if the path is accepted. */
  readonly nowhere: string | undefined;
  readonly aboveId: string | undefined;
}

const cases: readonly Case[] = [
  { pattern: "Customer", path: "customers/-", nowhere: mustNameOne(2, "customer"), aboveId: needsId(2) },
  { pattern: "Org", path: "orgs/-", nowhere: mustNameOne(2, "org"), aboveId: needsId(2) },
  { pattern: "Org", path: "orgs/%2D", nowhere: mustNameOne(2, "org"), aboveId: needsId(2) },
  { pattern: "Member", path: `orgs/-/members/${id}`, nowhere: mustNameOne(2, "org"), aboveId: undefined },
  { pattern: "Member", path: "orgs/-/members/alice", nowhere: mustNameOne(2, "org"), aboveId: needsId(2) },
  { pattern: "Member", path: "orgs/acme/members/-", nowhere: mustNameOne(4, "member"), aboveId: needsId(4) },
  { pattern: "Member", path: `orgs/${id}/members/-`, nowhere: mustNameOne(4, "member"), aboveId: needsId(4) },
  { pattern: "Member", path: "orgs/-/members/-", nowhere: mustNameOne(4, "member"), aboveId: needsId(4) },
  { pattern: "Project", path: `orgs/-/projects/${id}`, nowhere: mustNameOne(2, "org"), aboveId: undefined },
  { pattern: "Group", path: `orgs/-/groups/${id}`, nowhere: mustNameOne(2, "org"), aboveId: undefined },
  { pattern: "ApiKey", path: `orgs/-/members/-/apiKeys/${id}`, nowhere: mustNameOne(4, "member"), aboveId: undefined },
  {
    pattern: "ApiKey",
    path: `orgs/acme/members/-/apiKeys/${id}`,
    nowhere: mustNameOne(4, "member"),
    aboveId: undefined,
  },
  { pattern: "ApiKey", path: `orgs/-/members/${id}/apiKeys/ci`, nowhere: mustNameOne(2, "org"), aboveId: undefined },
  { pattern: "ApiKey", path: `orgs/-/members/al/apiKeys/${id}`, nowhere: mustNameOne(2, "org"), aboveId: undefined },
  { pattern: "ApiKey", path: "orgs/-/members/-/apiKeys/ci", nowhere: mustNameOne(4, "member"), aboveId: needsId(4) },
  { pattern: "ApiKey", path: "orgs/acme/members/bo/apiKeys/-", nowhere: mustNameOne(6, "apiKey"), aboveId: needsId(6) },
  // A member can be in many groups, so its id does not identify a Membership.
  {
    pattern: "GroupMember",
    path: `orgs/acme/groups/-/members/${id}`,
    nowhere: mustNameOne(4, "group"),
    aboveId: shared(4),
  },
  {
    pattern: "GroupMember",
    path: `orgs/-/groups/-/members/${id}`,
    nowhere: mustNameOne(4, "group"),
    aboveId: shared(4),
  },
  {
    pattern: "GroupMember",
    path: "orgs/acme/groups/-/members/bob",
    nowhere: mustNameOne(4, "group"),
    aboveId: needsId(4),
  },
  {
    pattern: "GroupMember",
    path: `orgs/-/groups/${id}/members/bob`,
    nowhere: mustNameOne(2, "org"),
    aboveId: undefined,
  },
  {
    pattern: "GroupMember",
    path: `orgs/-/groups/sre/members/${id}`,
    nowhere: mustNameOne(2, "org"),
    aboveId: shared(2),
  },
  {
    pattern: "Subgroup",
    path: `orgs/acme/groups/-/subgroups/${id}`,
    nowhere: mustNameOne(4, "group"),
    aboveId: shared(4),
  },
  {
    pattern: "Subgroup",
    path: `orgs/-/groups/${id}/subgroups/${id}`,
    nowhere: mustNameOne(2, "org"),
    aboveId: undefined,
  },
];

const refusal = ({ pattern, path }: Case, wildcards: Wildcards): string | undefined =>
  thrownBy(() => parseResourcePath(patterns[pattern], path, "path", wildcards)).violations[0]?.description;

const references = ({ pattern, path }: Case, wildcards: Wildcards): number =>
  parseResourcePath(patterns[pattern], path, "path", wildcards).filter((reference) => reference.by === "any").length;

describe("without wildcards, a path must refer to one resource", () => {
  test.each(cases)("$path", (item) => {
    expect(refusal(item, "nowhere")).toBe(item.nowhere);
  });
});

describe("a wildcard before an id is accepted if the id identifies the resource", () => {
  test.each(cases.filter((item) => item.aboveId === undefined))("$path", (item) => {
    expect(references(item, "above-id")).toBeGreaterThan(0);
  });
});

describe("a wildcard before an id is rejected if no id identifies the resource", () => {
  test.each(cases.filter((item) => item.aboveId !== undefined))("$path", (item) => {
    expect(refusal(item, "above-id")).toBe(item.aboveId);
  });
});

describe("a wildcard is accepted anywhere if the caller allows it", () => {
  test.each(cases)("$path", (item) => {
    expect(references(item, "anywhere")).toBeGreaterThan(0);
  });
});

describe("a wildcard at the end is accepted below one org, and nowhere else, if the caller allows only that", () => {
  const batch = (pattern: readonly string[], path: string) => () =>
    parseResourcePath(pattern, path, "path", "last-in-org");

  test.each(["orgs/acme/groups/-", `orgs/${id}/groups/-`, "orgs/acme/groups/sre"])("%s", (path) => {
    expect(batch(patterns.Group, path)).not.toThrow();
  });

  test.each([
    [patterns.Org, "orgs/-", mustNameOne(2, "org")],
    [patterns.Group, "orgs/-/groups/-", mustNameOne(2, "org")],
    [patterns.Group, "orgs/-/groups/sre", mustNameOne(2, "org")],
    [patterns.Customer, "customers/-", mustNameOne(2, "customer")],
    [patterns.ResourceType, "services/compute/resourceTypes/-", mustNameOne(4, "resourceType")],
  ] as const)("%s %s is refused", (pattern, path, description) => {
    expect(thrownBy(batch(pattern, path)).violations[0]?.description).toBe(description);
  });
});
