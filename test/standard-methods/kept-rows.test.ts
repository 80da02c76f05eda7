import { beforeEach, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import type { KnownStatement, StatementResult } from "../../src/database/connection-pool.ts";
import { type KeptRows, createKeptRows } from "../../src/standard-methods/read/kept-rows.ts";

const textType = 25;
let now = 0;
/** What PostgreSQL has. */
let names: string[] = [];

beforeEach(() => {
  now = 0;
  names = ["a", "b", "c"];
});

/** Answers a statement as PostgreSQL does: a text is its length and itself. */
function answer(statement: KnownStatement): object[] {
  const isOfTexts = statement.text !== "select";
  const rows = names.map((name) => (isOfTexts ? { text: `${Buffer.byteLength(name)}\u001f${name}` } : { name }));
  const fields = [{ name: "name", dataTypeID: textType }] as unknown as StatementResult["fields"];
  return statement.rowsOf?.({ fields, rows }) ?? rows;
}

interface Read {
  readonly isOfTexts: boolean;
  readonly rows: readonly object[];
}

function read(kept: KeptRows, key = "list", orgId = "org"): Read {
  const plain = { text: "select", values: [], isKept: false };
  const statement = kept.statementOf({ orgId, select: "things", key }, plain);
  return { isOfTexts: statement.text !== plain.text, rows: answer(statement) };
}

const isSameAs = ({ rows: before }: Read, { rows }: Read): boolean[] => rows.map((row) => before.includes(row));

/** Returns kept rows that know the columns, and how long the list is. */
function createKept(maxBytes = 1_000_000): KeptRows {
  const kept = createKeptRows(maxBytes, () => now);
  expect(read(kept).isOfTexts).toBe(false);
  return kept;
}

test("a row that is as it was is the same object, and frozen from the second time on", () => {
  const kept = createKept();
  const first = read(kept);
  expect(first).toEqual({ isOfTexts: true, rows: [{ name: "a" }, { name: "b" }, { name: "c" }] });
  expect(first.rows.some(Object.isFrozen)).toBe(false);
  names = ["new", "a", "Ä", "c"];
  const second = read(kept);
  expect(second.rows).toEqual([{ name: "new" }, { name: "a" }, { name: "Ä" }, { name: "c" }]);
  expect(isSameAs(first, second)).toEqual([false, true, false, true]);
  expect(second.rows.map(Object.isFrozen)).toEqual([false, true, false, true]);
  // Only what was on the list last is kept.
  names = ["a", "b"];
  expect(isSameAs(first, read(kept))).toEqual([true, false]);
});

test("lists keep rows of their own", () => {
  const kept = createKept();
  const readAll = () => [read(kept, "one"), read(kept, "other"), read(kept, "in another org", "another")];
  expect(readAll().map(({ isOfTexts }) => isOfTexts)).toEqual([false, false, false]);
  const [lists, again] = [readAll(), readAll()];
  expect(again.map((list, index) => isSameAs(lists[index] ?? list, list))).toEqual(lists.map(() => [true, true, true]));
  expect(isSameAs(lists[0] as Read, again[1] as Read)).toEqual([false, false, false]);
});

test("an empty list has rows later", () => {
  const kept = createKept();
  names = [];
  expect(read(kept)).toEqual({ isOfTexts: true, rows: [] });
  names = ["a"];
  expect(read(kept).rows).toEqual([{ name: "a" }]);
});

test("a list of which most has changed is read as before for a minute", () => {
  const kept = createKept();
  read(kept);
  names = ["a", "x", "y"];
  expect(read(kept).isOfTexts).toBe(true);
  now = 59_000;
  expect(read(kept)).toEqual({ isOfTexts: false, rows: [{ name: "a" }, { name: "x" }, { name: "y" }] });
  now = 61_000;
  expect(read(kept).isOfTexts).toBe(true);
  expect(read(kept).isOfTexts).toBe(true);
});

/** Reads lists in turn. Returns which of them were read as texts, and how many of their rows were kept. */
function readInTurn(kept: KeptRows, lists: readonly string[], orgId = "org"): { ofTexts: string[]; known: number } {
  const all = lists.map((key) => ({ key, ...read(kept, key, orgId) }));
  return {
    ofTexts: all.filter(({ isOfTexts }) => isOfTexts).map(({ key }) => key),
    known: all.flatMap(({ rows }) => rows).filter(Object.isFrozen).length,
  };
}

test.each([300, 700, 1_000, 3_000])(
  "of lists that do not fit, those that are read all the time stay: rows of %i characters",
  (length) => {
    names = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(length));
    // An org has a quarter: room for two lists and a half.
    const kept = createKept(4 * 2.5 * 10 * (1_000 + 8 * length + 100));
    const lists = ["1", "2", "3", "4", "5"];
    for (let round = 0; round < 4; round++) readInTurn(kept, lists);
    for (let round = 0; round < 3; round++) {
      now += 3_000;
      const { ofTexts, known } = readInTurn(kept, lists);
      expect(known).toBe(10 * ofTexts.length);
      expect([1, 2]).toContain(ofTexts.length);
    }
    const first = required(readInTurn(kept, lists).ofTexts[0]);
    // One that nobody reads any more makes room for others.
    const others = lists.filter((key) => key !== first);
    now += 11_000;
    for (let round = 0; round < 4; round++) readInTurn(kept, others);
    expect(read(kept, first).isOfTexts).toBe(false);
  },
);

test("an org cannot take the place of the lists of others", () => {
  names = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(1_000));
  const kept = createKept(4 * 200_000);
  for (let round = 0; round < 3; round++) readInTurn(kept, ["1", "2"], "quiet");
  const many = Array.from({ length: 100 }, (_, index) => `large ${index}`);
  for (let round = 0; round < 3; round++) readInTurn(kept, many, "loud");
  expect(readInTurn(kept, ["1", "2"], "quiet")).toEqual({ ofTexts: ["1", "2"], known: 20 });
});

test("rows that are larger than the part of an org are not kept, nor any without memory", () => {
  names = ["x".repeat(30_000)];
  const kept = createKept(4 * 100_000);
  expect([1, 2, 3].map(() => read(kept).isOfTexts)).toEqual([true, false, false]);
  const none = createKeptRows(0);
  expect([1, 2, 3].map(() => read(none).isOfTexts)).toEqual([false, false, false]);
});
