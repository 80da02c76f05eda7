import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEntityTable } from "../../../src/access/engine/tables/entity-table.ts";
import { createIdPage } from "../../../src/access/engine/decisions/id-page.ts";
import { createIdTable, idWidth } from "../../../src/access/engine/tables/id-table.ts";
import { createIntRecords } from "../../../src/access/engine/tables/int-records.ts";
import { createNameTable, nameWidth } from "../../../src/access/engine/tables/name-table.ts";
import { fuzzParameters } from "../../support/fuzz-parameters.ts";

const alice = "01990000-aaaa-7000-8000-0123456789ab";
const bob = "f1990000-aaaa-7000-8000-0123456789ab";

describe("the table of ids", () => {
  function createTable() {
    const records = createIntRecords(idWidth);
    return { records, ids: createIdTable(records) };
  }

  test("behaves like a map", () => {
    const property = fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(200)), { maxLength: 400 }), (steps) => {
      const { records, ids } = createTable();
      const expected = new Map<string, number>();
      for (const [adds, number] of steps) {
        // Ids that differ only in their first or only in their last word.
        const word = number.toString(16).padStart(8, "0");
        const id = number % 2 === 0 ? `${word}-0000-7000-8000-000000000000` : `00000000-0000-7000-8000-0000${word}`;
        const known = expected.get(id);
        if (adds && known === undefined) {
          const record = records.add();
          ids.add(record, id);
          expected.set(id, record);
        } else if (!adds && known !== undefined) {
          ids.remove(known);
          records.remove(known);
          expected.delete(id);
        }
        expect(ids.find(id)).toBe(expected.get(id) ?? 0);
      }
      for (const [id, record] of expected) expect([ids.find(id), ids.idOf(record)]).toEqual([record, id]);
    });
    fc.assert(property, fuzzParameters(300));
  });

  test("finds an id in any case, and returns it in lowercase", () => {
    const { records, ids } = createTable();
    const record = records.add();
    ids.add(record, alice.toUpperCase());
    expect(ids.find(alice)).toBe(record);
    expect(ids.idOf(record)).toBe(alice);
  });

  test.each([
    "",
    "alice",
    alice.slice(1),
    `${alice}0`,
    alice.replaceAll("-", "a"),
    alice.replace("a", "g"),
    `${alice.slice(0, 35)}Ġ`,
  ])("finds nothing by %j, and rejects it as an id", (text) => {
    const { records, ids } = createTable();
    ids.add(records.add(), alice);
    expect(ids.find(text)).toBe(0);
    expect(() => ids.add(records.add(), text)).toThrow("is not a UUID");
  });

  test("orders ids like their texts, also by the sign bit", () => {
    const { records, ids } = createTable();
    const [first, second] = [records.add(), records.add()];
    ids.add(first, bob);
    ids.add(second, alice);
    expect(Math.sign(ids.compare(first, second))).toBe(1);
    expect(ids.compare(first, first)).toBe(0);
    expect([first, second].map(ids.comesAfter(alice))).toEqual([true, false]);
    expect([first, second].map(ids.comesAfter(bob))).toEqual([false, false]);
  });
});

describe("the table of names", () => {
  function createTable() {
    const records = createIntRecords(1 + nameWidth);
    return { records, names: createNameTable(records, 1) };
  }

  test("finds a record by its current name only", () => {
    const { records, names } = createTable();
    const record = records.add();
    names.set(record, "alice");
    names.set(record, "alice-smith");
    expect([names.find("alice"), names.find("alice-smith"), names.nameOf(record)]).toEqual([0, record, "alice-smith"]);
    names.clear(record);
    names.clear(record);
    expect([names.find("alice-smith"), names.nameOf(record)]).toEqual([0, ""]);
  });

  test("distinguishes names by more than the low byte of each character", () => {
    const { records, names } = createTable();
    const record = records.add();
    names.set(record, "a");
    expect(names.find("š")).toBe(0);
    names.set(record, "groß-š-🙂");
    expect([names.find("groß-š-🙂"), names.nameOf(record)]).toEqual([record, "groß-š-🙂"]);
  });

  test("stores many names of all lengths, and reuses the memory of replaced ones", () => {
    const { records, names } = createTable();
    const nameOf = (number: number): string => `${"x".repeat(number % 60)}${number}`;
    const made = Array.from({ length: 30_000 }, (_, number) => {
      const record = records.add();
      names.set(record, nameOf(number));
      return record;
    });
    expect(
      made.every((record, number) => names.find(nameOf(number)) === record && names.nameOf(record) === nameOf(number)),
    ).toBe(true);
    const bytes = names.bytes();
    for (let round = 0; round < 5; round++) {
      made.forEach((record, number) =>
        names.set(record, round % 2 === 0 ? nameOf(number).replaceAll("x", "y") : nameOf(number)),
      );
    }
    expect(names.bytes()).toBeLessThan(bytes * 1.01);
    expect(names.find(nameOf(59))).toBe(0);
  });
});

describe("a table of entities", () => {
  test("finds a deleted entity only by id, until it is undeleted", () => {
    const table = createEntityTable(0);
    const record = table.put(alice, "alice", "ACTIVE");
    expect(table.put(alice, "alice", "DELETED")).toBe(record);
    expect([table.isLive(record), table.isActive(record), table.stateOf(record)]).toEqual([false, false, "DELETED"]);
    expect([table.find({ by: "id", value: alice }), table.find({ by: "name", value: "alice" })]).toEqual([record, 0]);
    const other = table.put(bob, "alice", "SUSPENDED");
    expect([table.find({ by: "name", value: "alice" }), table.isLive(other), table.isActive(other)]).toEqual([
      other,
      true,
      false,
    ]);
    table.put(alice, "alice-2", "ACTIVE");
    expect(table.find({ by: "name", value: "alice-2" })).toBe(record);
  });

  test("knows that an entity was suspended when it was deleted", () => {
    const table = createEntityTable(0);
    const read = (record: number) => [table.stateOf(record), table.isLive(record), table.isSuspended(record)];
    const record = table.put(alice, "alice", "SUSPENDED");
    expect(read(record)).toEqual(["SUSPENDED", true, true]);
    table.put(alice, "alice", "SUSPENDED AND DELETED");
    expect([...read(record), table.find({ by: "name", value: "alice" })]).toEqual(["DELETED", false, true, 0]);
    table.put(alice, "alice", "ACTIVE");
    table.put(alice, "alice", "DELETED");
    expect(read(record)).toEqual(["DELETED", false, false]);
    table.retire(record);
    expect(read(record)).toEqual([undefined, false, false]);
  });

  test("reuses the record of a purged entity only after its release", () => {
    const table = createEntityTable(0);
    const record = table.put(alice, "alice", "ACTIVE");
    table.retire(record);
    expect([table.findById(alice), table.isLive(record), table.stateOf(record)]).toEqual([0, false, undefined]);
    expect(table.put(bob, "bob", "ACTIVE")).not.toBe(record);
    table.release(record);
    expect(table.put(alice, "alice", "ACTIVE")).toBe(record);
  });
});

describe("a page of ids", () => {
  test("contains the first ids after a given one, whatever the order and repetition of offers", () => {
    const idOf = (number: number): string => `${number.toString(16).padStart(8, "0")}-0000-7000-8000-000000000000`;
    const offers = fc.array(fc.nat(60), { maxLength: 200 });
    const property = fc.property(offers, fc.nat(20), fc.option(fc.nat(60)), (numbers, limit, after) => {
      const table = createEntityTable(0);
      const page = createIdPage(table, { limit, after: after === null ? undefined : idOf(after) });
      for (const number of numbers) {
        const record = table.put(idOf(number), `name-${number}`, "ACTIVE");
        if (page.wants(record)) page.add(record);
      }
      const expected = [...new Set(numbers)].filter((number) => after === null || number > after);
      expect(page.ids()).toEqual(expected.map(idOf).toSorted().slice(0, limit));
    });
    fc.assert(property, fuzzParameters(500));
  });
});
