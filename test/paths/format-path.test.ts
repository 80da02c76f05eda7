// Tests how paths are written: by name, and by id where there is no name.
import { expect, test } from "vitest";
import { formatPath, formatReferences, orgPathName, pathName } from "../../src/paths/format-path.ts";
import { patterns } from "../../src/paths/patterns.ts";

const id = "00000000-0000-7000-8000-000000000001";

test("a path has a name for each collection", () => {
  expect(formatPath(patterns.Member, "acme", "alice")).toBe("/orgs/acme/members/alice");
  expect(formatReferences([], [])).toBe("");
});

test("a reference is written by its name, by its id if that is all that is known, and as a dash for all", () => {
  const acme = { by: "name", value: "acme" } as const;
  const write = (...references: Parameters<typeof formatReferences>[1]) =>
    formatReferences(patterns.Member, references);
  expect(write(acme, { by: "id", value: id })).toBe(`/orgs/acme/members/@${id}`);
  expect(write(acme, { by: "id", value: id, shown: "alice" })).toBe("/orgs/acme/members/alice");
  expect(write({ by: "any" }, acme)).toBe("/orgs/-/members/acme");
  // A list has no reference for its last collection.
  expect(write(acme)).toBe("/orgs/acme/members/-");
});

test("a deleted resource is named by its id, because another one may have its name", () => {
  const row = { id, name: "acme" };
  expect([pathName(row), pathName({ ...row, delete_time: null })]).toEqual(["acme", "acme"]);
  expect(pathName({ ...row, delete_time: new Date(0) })).toBe(`@${id}`);
  const inOrg = { org_id: id, org_name: "acme" };
  expect(orgPathName({ ...inOrg, org_delete_time: null })).toBe("acme");
  expect(orgPathName({ ...inOrg, org_delete_time: new Date(0) })).toBe(`@${id}`);
});
