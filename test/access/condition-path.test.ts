import { describe, expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import { conditionCollectionsOf } from "../../src/standard-methods/definition/condition-collections.ts";
import {
  type ConditionNames,
  type SnapshotTable,
  nameRest,
  requireAllCollections,
} from "../../src/access/conditions/condition-path.ts";
import { loadRows } from "../../src/access/engine/loading/load-rows.ts";
import { createOrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { collectionsOf, createMethodTable } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";

const conditionCollections = conditionCollectionsOf(registry.definitions);

const id = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;

const org = {
  id: id(1),
  name: "acme",
  customer_id: id(2),
  state: "ACTIVE",
  delete_time: null,
  labels: {},
  revision: "1",
} as const;
const snapshot = createOrgSnapshot({ org, predefinedRoles: {}, compileCondition: () => () => false });
loadRows(snapshot, {
  members: [{ id: id(3), name: "alice", state: "ACTIVE" }],
  groups: [
    { id: id(4), name: "admins" },
    { id: id(5), name: "inner" },
  ],
  roles: [{ id: id(6), name: "starter", permissions: [] }],
  projects: [{ id: id(7), name: "web", state: "ACTIVE" }],
});

const names: ConditionNames = { collections: conditionCollections };

describe("the part of a path below the org, in conditions", () => {
  test.each([
    ["", ""],
    ["/members/alice", "/members/alice"],
    [`/members/@${id(3)}`, "/members/alice"],
    [`/groups/@${id(4)}/members/@${id(3)}`, "/groups/admins/members/alice"],
    [`/groups/@${id(4)}/subgroups/@${id(5)}`, "/groups/admins/subgroups/inner"],
    [`/roles/@${id(6)}`, "/roles/starter"],
    [`/members/@${id(3)}/apiKeys/laptop`, "/members/alice/apiKeys/laptop"],
  ])("contains current names: %j", (rest, named) => {
    expect(nameRest(names, snapshot, rest)).toBe(named);
  });

  test.each([
    `/members/@${id(99)}`,
    `/members/@${id(4)}`,
    `/members/alice/apiKeys/@${id(8)}`,
    `/roleBindings/@${id(8)}`,
    `/projects/@${id(7)}`,
  ])("fails if the name of an id is unknown: %j", (rest) => {
    expect(() => nameRest(names, snapshot, rest)).toThrow("only for one resource with a name");
  });

  test("fails for an id in an org without a snapshot", () => {
    expect(() => nameRest(names, undefined, `/members/@${id(3)}`)).toThrow("only for one resource with a name");
    expect(nameRest(names, undefined, "/members/alice")).toBe("/members/alice");
  });

  test.each(["/instances/db-1", "/instances/@db-1", `/instances/@${id(3)}`, "/instances/@1/disks/@2"])(
    "is unchanged for other services: %j",
    (rest) => {
      expect(nameRest(names, snapshot, rest)).toBe(rest);
    },
  );

  test("takes the name from the table that is declared for its collection", () => {
    const declared = { collections: new Map<string, SnapshotTable>([["clusters", "projects"]]) };
    expect(nameRest(declared, snapshot, `/clusters/@${id(7)}`)).toBe("/clusters/web");
  });
});

describe("a server starts only if", () => {
  const required = collectionsOf(createMethodTable(services));

  test("all collections of the API are declared", () => {
    expect(required).toEqual(expect.arrayContaining(["members", "apiKeys", "roleBindings", "projects"]));
    expect(() => requireAllCollections(conditionCollections, required)).not.toThrow();
  });

  test.each(required)("%s is declared", (missing) => {
    const others = new Map([...conditionCollections].filter(([name]) => name !== missing));
    expect(() => requireAllCollections(others, required)).toThrow(
      `the collection ${missing} is not declared for conditions`,
    );
  });
});
