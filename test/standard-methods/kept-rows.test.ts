import { beforeEach, expect, test } from "vitest";
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

function read(kept: KeptRows, key = "list", orgId = "org", size = 10): Read {
  const plain = { text: "select", values: [], isKept: false };
  const statement = kept.statementOf({ orgId, select: "things", key, size }, plain);
  return { isOfTexts: statement.text !== plain.text, rows: answer(statement) };
}

const isSameAs = ({ rows: before }: Read, { rows }: Read): boolean[] => rows.map((row) => before.includes(row));

function createKept(maxBytes = 1_000_000): KeptRows {
  const kept = createKeptRows(maxBytes, () => now);
  // The first result says which columns there are.
  expect(read(kept, "first").isOfTexts).toBe(false);
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
  const lists = [read(kept, "one"), read(kept, "other"), read(kept, "in another org", "another")];
  const again = [read(kept, "one"), read(kept, "other"), read(kept, "in another org", "another")];
  expect(again.map((list, index) => isSameAs(lists[index] ?? list, list))).toEqual(lists.map(() => [true, true, true]));
  expect(isSameAs(lists[0] as Read, again[1] as Read)).toEqual([false, false, false]);
});

test("an empty list has rows later", () => {
  const kept = createKept();
  names = [];
  expect(read(kept).rows).toEqual([]);
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

test("lists that do not fit are read as before, and those that are read all the time stay", () => {
  // An org has a quarter: room for two lists of ten rows.
  const kept = createKept(4 * 90_000);
  const keys = ["1", "2", "3", "4"];
  const readAll = (): boolean[] => keys.map((key) => read(kept, key, "org", 10).isOfTexts);
  names = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(380));
  expect(readAll()).toEqual([true, true, false, false]);
  now = 9_000;
  expect(readAll()).toEqual([true, true, false, false]);
  expect(read(kept, "of another", "another").isOfTexts).toBe(true);
  // The third takes the place of one that nobody reads any more.
  now = 12_000;
  read(kept, "2");
  now = 21_000;
  expect(["3", "2", "1"].map((key) => read(kept, key).isOfTexts)).toEqual([true, true, false]);
});

test("rows that are larger than the part of an org are not kept, nor any without memory", () => {
  names = ["x".repeat(30_000)];
  const kept = createKept(4 * 100_000);
  expect(read(kept).isOfTexts).toBe(true);
  expect(read(kept).isOfTexts).toBe(false);
  expect(read(createKept(0)).isOfTexts).toBe(false);
});
