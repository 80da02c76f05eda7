import { describe, expect, test } from "vitest";
import { createConditionTable } from "../../../src/access/engine/tables/condition-table.ts";
import { createEdgeLists } from "../../../src/access/engine/tables/edge-lists.ts";
import { createEntityTable, entityWidth } from "../../../src/access/engine/tables/entity-table.ts";
import { createGroupClosure, groupsWithin } from "../../../src/access/engine/tables/group-closure.ts";
import { createIntRecords } from "../../../src/access/engine/tables/int-records.ts";
import { createPermissionSet, hasPermission, listedNumbers } from "../../../src/access/engine/tables/permission-set.ts";
import { allClasses, classOf, classesIn, describeClasses } from "../../../src/access/engine/tables/permission-class.ts";
import { createPermissionTable, sharePermissions } from "../../../src/access/engine/tables/permission-table.ts";
import { createRoleTable } from "../../../src/access/engine/tables/role-table.ts";

const byNumber = (one: number, other: number): number => one - other;

const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;

const all = { permissions: "*" } as const;

describe("edges", () => {
  function createEdges() {
    const [sources, targets] = [createIntRecords(1), createIntRecords(1)];
    for (let count = 0; count < 10; count++) for (const records of [sources, targets]) records.add();
    const edges = createEdgeLists({ records: sources, field: 0 }, { records: targets, field: 0 });
    const from = (source: number): number[] => walk(edges.firstFrom(source), edges.nextFrom).map(edges.groupOf);
    const to = (target: number): number[] => walk(edges.firstTo(target), edges.nextTo).map(edges.sourceOf);
    return { edges, from, to };
  }

  function walk(first: number, next: (edge: number) => number): number[] {
    const found = [];
    for (let edge = first; edge !== 0; edge = next(edge)) found.push(edge);
    return found;
  }

  test("can be walked from both ends, and are removed from both", () => {
    const { edges, from, to } = createEdges();
    for (const [source, target] of [
      [1, 1],
      [1, 2],
      [2, 2],
      [3, 2],
    ] as const)
      edges.put(source, target, Infinity);
    expect([from(1), to(2), from(4)].map((list) => list.toSorted(byNumber))).toEqual([[1, 2], [1, 2, 3], []]);
    edges.removeBetween(2, 2);
    edges.removeBetween(4, 2);
    expect([from(2), to(2).toSorted(byNumber)]).toEqual([[], [1, 3]]);
    edges.removeBetween(3, 2);
    edges.removeBetween(1, 2);
    expect([from(1), to(2), to(1)]).toEqual([[1], [], [1]]);
  });

  test("are unique between two records, with the last expire time", () => {
    const { edges, from, to } = createEdges();
    edges.put(1, 1, 100);
    edges.put(1, 1, 200);
    expect([from(1), to(1)]).toEqual([[1], [1]]);
    const edge = edges.firstFrom(1);
    expect([edges.holdsAt(edge, 199), edges.holdsAt(edge, 200)]).toEqual([true, false]);
  });
});

describe("the closure of groups", () => {
  function createNested(pairs: readonly (readonly [inner: number, outer: number])[]) {
    const groups = createEntityTable(2);
    const nestings = createEdgeLists(
      { records: groups.records, field: entityWidth },
      { records: groups.records, field: entityWidth + 1 },
    );
    for (let number = 1; number <= 6; number++) groups.put(idOf(number), `group-${number}`, "ACTIVE");
    for (const [inner, outer] of pairs) nestings.put(inner, outer, Infinity);
    return { groups, nestings, closure: createGroupClosure(groups, nestings) };
  }

  test("contains each outer group once, even if two paths lead to it", () => {
    const { closure } = createNested([
      [1, 2],
      [1, 3],
      [2, 4],
      [3, 4],
      [4, 5],
    ]);
    expect([...closure.above(1)].toSorted(byNumber)).toEqual([2, 3, 4, 5]);
    expect([...closure.above(4)]).toEqual([5]);
    expect([...closure.above(6)]).toEqual([]);
  });

  test("ends if groups are nested in a cycle", () => {
    const { groups, nestings, closure } = createNested([
      [1, 2],
      [2, 3],
      [3, 1],
    ]);
    expect([...closure.above(1)].toSorted(byNumber)).toEqual([2, 3]);
    expect([...groupsWithin(1, groups, nestings)].toSorted(byNumber)).toEqual([1, 2, 3]);
  });

  test("is computed again after it was invalidated", () => {
    const { nestings, closure } = createNested([[1, 2]]);
    expect([...closure.above(1)]).toEqual([2]);
    nestings.put(2, 3, Infinity);
    closure.forget();
    expect([...closure.above(1)].toSorted(byNumber)).toEqual([2, 3]);
    expect(closure.bytes()).toBeGreaterThan(0);
    closure.forget();
    expect(closure.bytes()).toBe(0);
  });

  test("skips removed groups, in both directions", () => {
    const { groups, nestings, closure } = createNested([
      [1, 2],
      [2, 3],
    ]);
    groups.retire(2);
    expect([...closure.above(1)]).toEqual([]);
    expect([...groupsWithin(3, groups, nestings)]).toEqual([3]);
  });
});

describe("permissions", () => {
  test("are bits of a set, across word boundaries", () => {
    const numbers = [0, 31, 32, 63, 64, 1000];
    const set = createPermissionSet(numbers);
    const others = [1, 30, 33, 62, 65, 999, 1001, 5000, -1];
    expect(numbers.every((number) => hasPermission(set, number))).toBe(true);
    expect(others.some((number) => hasPermission(set, number))).toBe(false);
    expect([listedNumbers(set), set.size]).toEqual([numbers, 6]);
    expect([hasPermission(createPermissionSet([]), 0), hasPermission(createPermissionSet([], allClasses), -1)]).toEqual(
      [false, true],
    );
  });

  test("release their number for reuse when no role names them", () => {
    const table = createPermissionTable(sharePermissions(["s.h.get"]));
    const number = table.take("a.b.c");
    expect(table.take("a.b.c")).toBe(number);
    table.giveBack(number);
    expect(table.find("a.b.c")).toBe(number);
    table.giveBack(number);
    expect(table.find("a.b.c")).toBe(-1);
    expect([table.take("d.e.f"), table.find("a.b.c")]).toEqual([number, -1]);
    const shared = table.take("s.h.get");
    table.giveBack(shared);
    expect([table.find("s.h.get"), table.nameOf(shared)]).toEqual([shared, "s.h.get"]);
  });

  test("of edited roles are released completely", () => {
    const roles = createRoleTable({ owner: all, viewer: { permissions: ["a.b.get"] } });
    const role = roles.putCustom(idOf(1), "custom", "ACTIVE", ["a.b.get", "a.b.set", "a.b.set"]);
    expect(roles.sizeOf(role)).toBe(2);
    const bytes = roles.bytes();
    for (let edit = 0; edit < 1000; edit++) roles.putCustom(idOf(1), "custom", "ACTIVE", ["a.b.get", `a.b.${edit}`]);
    expect(roles.bytes()).toBe(bytes);
    expect([roles.has(role, roles.permissions.find("a.b.get")), roles.permissions.find("a.b.set")]).toEqual([true, -1]);
    roles.retireCustom(role);
    expect(roles.having(roles.permissions.find("a.b.get")).map(roles.nameOf)).toEqual(["owner", "viewer"]);
  });

  test("named * in a custom role are not all permissions", () => {
    const roles = createRoleTable({ owner: all });
    const role = roles.putCustom(idOf(1), "custom", "ACTIVE", ["*"]);
    expect(roles.has(role, roles.permissions.find("a.b.get"))).toBe(false);
    expect(roles.has(roles.findPredefined("owner"), roles.permissions.find("a.b.get"))).toBe(true);
  });

  test("include those that no role has named yet with *, and of whole classes", () => {
    const roles = createRoleTable({ owner: all, admin: { permissions: ["iam.b.get", "*.*.*"] } });
    const asked = ["iam.b.get", "iam.b.set", "iam.b.unnamed", "resources.b.unnamed", "a.b.set", "a.b.unnamed"];
    const heldBy = (name: string) =>
      asked.filter((each) => roles.has(roles.findPredefined(name), roles.permissions.find(each)));
    const check = () => {
      expect(heldBy("owner")).toEqual(asked);
      expect(heldBy("admin")).toEqual(["iam.b.get", "a.b.set", "a.b.unnamed"]);
    };
    check();
    roles.putCustom(idOf(1), "custom", "ACTIVE", ["iam.b.set", "a.b.set"]);
    check();
  });

  test("count as more with a class than with any list, and are infinitely many with *", () => {
    const roles = createRoleTable({
      owner: all,
      admin: { permissions: ["iam.b.get", "*.*.*"] },
      writer: { permissions: ["*.*.*"] },
      getter: { permissions: ["*.*.get"] },
      // Lists what it holds by its class.
      same: { permissions: ["a.b.get", "*.*.get"] },
    });
    const many = Array.from({ length: 1000 }, (_, index) => `a.b.${index}`);
    const list = roles.sizeOf(roles.putCustom(idOf(1), "custom", "ACTIVE", many));
    const [owner, admin, writer, getter, same] = ["owner", "admin", "writer", "getter", "same"].map((name) =>
      roles.sizeOf(roles.findPredefined(name)),
    ) as [number, number, number, number, number];
    expect([owner, admin - writer, same - getter, list]).toEqual([Infinity, 1, 0, 1000]);
    expect([list < getter, getter < writer]).toEqual([true, true]);
    expect(roles.has(roles.findPredefined("same"), roles.permissions.find("a.b.get"))).toBe(true);
  });

  test.each([
    ["iam.members.get", 0],
    ["resources.resourceTypes.create", 0],
    ["compute.instances.get", 1],
    ["compute.instances.list", 2],
    ["compute.instances.start", 3],
    ["compute.instances.getAll", 3],
    ["compute.instances", 0],
    ["compute.instances.get.more", 0],
    ["*.*.get", 0],
    ["Compute.instances.get", 0],
    ["", 0],
  ])("%j is of the class %i", (permission, expected) => {
    expect(classOf(permission)).toBe(expected);
  });

  test("of classes are described by as few wildcards as possible", () => {
    const described = [
      [],
      ["*.*.get"],
      ["*.*.list", "*.*.get"],
      ["*.*.*", "*.*.get"],
      ["*", "*.*.*"],
      ["iam.orgs.get"],
    ];
    expect(described.map((each) => describeClasses(classesIn(each)))).toEqual([
      [],
      ["*.*.get"],
      ["*.*.get", "*.*.list"],
      ["*.*.*"],
      ["*"],
      [],
    ]);
  });

  test("of whole classes are those that are named later, too, and no other", () => {
    const roles = createRoleTable({
      viewer: { permissions: ["iam.orgs.get", "*.*.get", "*.*.list"] },
      editor: { permissions: ["iam.orgs.get", "*.*.*"] },
    });
    const asked = ["a.b.get", "a.b.list", "a.b.start", "iam.orgs.get", "iam.orgs.list", "resources.b.get", "a.b.c.get"];
    const heldBy = (name: string) =>
      asked.filter((each) => roles.has(roles.findPredefined(name), roles.permissions.find(each)));
    const check = () => {
      expect(heldBy("viewer")).toEqual(["a.b.get", "a.b.list", "iam.orgs.get"]);
      expect(heldBy("editor")).toEqual(["a.b.get", "a.b.list", "a.b.start", "iam.orgs.get"]);
    };
    check();
    const role = roles.putCustom(idOf(1), "custom", "ACTIVE", asked);
    check();
    roles.retireCustom(role);
    check();
  });
});

describe("the roles of a subject cover another role", () => {
  const roles = createRoleTable({
    owner: all,
    admin: { permissions: ["iam.b.get", "iam.b.set", "*.*.*"] },
    keeper: { permissions: ["iam.b.get", "iam.b.set", "iam.b.purge", "*.*.*"] },
    purger: { permissions: ["iam.b.purge"] },
    setter: { permissions: ["iam.b.set", "a.b.delete"] },
    viewer: { permissions: ["a.b.get"] },
    remover: { permissions: ["a.b.delete"] },
    cleaner: { permissions: ["a.b.get", "a.b.delete"] },
    nothing: { permissions: [] },
    reader: { permissions: ["iam.b.get", "*.*.get", "*.*.list"] },
    getter: { permissions: ["*.*.get"] },
    operator: { permissions: ["iam.b.get", "*.*.*"] },
  });

  test.each([
    ["nothing", [], true],
    ["viewer", [], false],
    ["viewer", ["viewer"], true],
    ["cleaner", ["viewer"], false],
    ["cleaner", ["viewer", "remover"], true],
    ["cleaner", ["admin"], true],
    ["cleaner", ["purger", "viewer"], false],
    ["purger", ["admin"], false],
    ["purger", ["keeper"], true],
    ["admin", ["viewer", "remover", "cleaner"], false],
    ["admin", ["admin"], true],
    ["admin", ["keeper"], true],
    ["keeper", ["admin"], false],
    ["keeper", ["admin", "remover"], false],
    ["keeper", ["admin", "purger"], true],
    ["owner", ["keeper"], false],
    ["owner", ["admin", "keeper", "purger"], false],
    ["owner", ["owner"], true],
    ["viewer", ["reader"], true],
    ["cleaner", ["reader"], false],
    ["cleaner", ["operator"], true],
    ["reader", ["operator"], true],
    ["operator", ["reader"], false],
    ["getter", ["reader"], true],
    ["reader", ["getter", "viewer"], false],
    ["operator", ["admin"], true],
    ["operator", ["owner"], true],
    ["admin", ["operator"], false],
    ["admin", ["operator", "setter"], true],
    ["admin", ["reader", "setter", "cleaner"], false],
    ["setter", ["operator"], false],
    ["setter", ["admin"], true],
    ["setter", ["owner"], true],
    ["owner", ["operator", "reader"], false],
  ] as const)("%s, by %j: %s", (role, held, expected) => {
    expect(roles.covers(held.map(roles.findPredefined), roles.findPredefined(role))).toBe(expected);
  });
});

describe("conditions", () => {
  test("are compiled on first use, and once for all bindings with the same expression", () => {
    const compiled: string[] = [];
    const conditions = createConditionTable((expression) => {
      compiled.push(expression);
      return (context) => context === expression;
    });
    const [one, same, other] = ["a", "a", "b"].map(conditions.take);
    expect([one === same, one === other, compiled]).toEqual([true, false, []]);
    expect([conditions.holds(one ?? 0, "a"), conditions.holds(same ?? 0, "b"), compiled]).toEqual([true, false, ["a"]]);
    conditions.giveBack(one ?? 0);
    expect(conditions.holds(one ?? 0, "a")).toBe(true);
    conditions.giveBack(one ?? 0);
    expect(conditions.holds(one ?? 0, "a")).toBe(false);
    conditions.giveBack(other ?? 0);
    expect(conditions.bytes()).toBe(0);
  });

  test.each([["true"], [1], [{}], [undefined], [Promise.resolve(true)]])("that return %s are not true", (answer) => {
    const conditions = createConditionTable(() => () => answer);
    expect(conditions.holds(conditions.take("x"), {})).toBe(false);
  });

  test("that do not compile are not true, and one that throws ends the request", () => {
    const throws = (): never => {
      throw new Error("too costly");
    };
    const broken = createConditionTable(throws);
    expect(broken.holds(broken.take("x"), {})).toBe(false);
    const costly = createConditionTable(() => throws);
    expect(() => costly.holds(costly.take("x"), {})).toThrow("too costly");
  });
});
