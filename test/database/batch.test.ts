import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createBatcher } from "../../src/database/batch.ts";

/** A statement that was sent, which the test answers when it wants to. */
interface Sent {
  readonly keys: readonly number[];
  answer(): void;
  fail(error: unknown): void;
}

/** A database that answers each key with its tenfold. */
function createStatements() {
  const sent: Sent[] = [];
  const lookUpAll = (keys: readonly number[]) =>
    new Promise<number[]>((resolve, reject) => {
      sent.push({ keys, answer: () => resolve(keys.map((key) => key * 10)), fail: reject });
    });
  return { sent, lookUpAll };
}

/** Lets everything happen that can, short of an answer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

const keysOf = (sent: readonly Sent[]) => sent.map((statement) => statement.keys);

describe("lookups", () => {
  test("that arrive in one turn go out as one statement, in their order", async () => {
    const { sent, lookUpAll } = createStatements();
    const lookUp = createBatcher(lookUpAll);
    const values = Promise.all([3, 1, 2, 1].map(lookUp));
    expect(sent).toEqual([]);
    await settle();
    expect(keysOf(sent)).toEqual([[3, 1, 2, 1]]);
    sent[0]?.answer();
    expect(await values).toEqual([30, 10, 20, 10]);
  });

  test("that arrive while a statement is under way go out together when it ends", async () => {
    const { sent, lookUpAll } = createStatements();
    const lookUp = createBatcher(lookUpAll, { maxKeys: 256, maxStatements: 1 });
    const first = lookUp(1);
    await settle();
    const second = lookUp(2);
    await settle();
    const third = lookUp(3);
    await settle();
    expect(keysOf(sent)).toEqual([[1]]);
    sent[0]?.answer();
    await first;
    await settle();
    expect(keysOf(sent)).toEqual([[1], [2, 3]]);
    sent[1]?.answer();
    expect(await Promise.all([second, third])).toEqual([20, 30]);
  });

  test("that exceed the limit of a statement are split over several statements within the limit", async () => {
    const { sent, lookUpAll } = createStatements();
    const lookUp = createBatcher(lookUpAll, { maxKeys: 3, maxStatements: 10 });
    const values = Promise.all([1, 2, 3, 4, 5, 6, 7].map(lookUp));
    await settle();
    expect(keysOf(sent)).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
    for (const statement of sent.toReversed()) statement.answer();
    expect(await values).toEqual([10, 20, 30, 40, 50, 60, 70]);
  });

  test("have no more statements under way than allowed", async () => {
    const { sent, lookUpAll } = createStatements();
    const lookUp = createBatcher(lookUpAll, { maxKeys: 1, maxStatements: 2 });
    const values = Promise.all([1, 2, 3].map(lookUp));
    await settle();
    expect(keysOf(sent)).toEqual([[1], [2]]);
    sent[1]?.answer();
    await settle();
    expect(keysOf(sent)).toEqual([[1], [2], [3]]);
    sent[0]?.answer();
    sent[2]?.answer();
    expect(await values).toEqual([10, 20, 30]);
  });

  test("that fail give their error to all of their statement and to nobody else", async () => {
    const { sent, lookUpAll } = createStatements();
    const lookUp = createBatcher(lookUpAll, { maxKeys: 2, maxStatements: 2 });
    const outcomes = Promise.allSettled([1, 2, 3, 4].map(lookUp));
    await settle();
    const error = new Error("connection lost");
    sent[0]?.fail(error);
    sent[1]?.answer();
    expect(await outcomes).toEqual([
      { status: "rejected", reason: error },
      { status: "rejected", reason: error },
      { status: "fulfilled", value: 30 },
      { status: "fulfilled", value: 40 },
    ]);
  });

  test("go on after a statement that failed", async () => {
    const { sent, lookUpAll } = createStatements();
    const lookUp = createBatcher(lookUpAll, { maxKeys: 10, maxStatements: 1 });
    const first = lookUp(1);
    await settle();
    const second = lookUp(2);
    sent[0]?.fail(new Error("connection lost"));
    await expect(first).rejects.toThrow("connection lost");
    await settle();
    sent[1]?.answer();
    expect(await second).toBe(20);
  });

  test("that fail before anything is sent fail alike", async () => {
    const lookUp = createBatcher<number, number>(() => {
      throw new Error("no statement");
    });
    await expect(lookUp(1)).rejects.toThrow("no statement");
    await expect(lookUp(2)).rejects.toThrow("no statement");
  });

  test("fail when there are not as many values as keys, rather than mix them up", async () => {
    const lookUp = createBatcher<number, number>((keys) => Promise.resolve(keys.slice(1)));
    const outcomes = await Promise.allSettled([1, 2, 3].map(lookUp));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected", "rejected"]);
  });
});
