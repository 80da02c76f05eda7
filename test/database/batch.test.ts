import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createBatcher } from "../../src/database/batch.ts";

/** A sent statement, which the test completes. */
interface Sent {
  readonly keys: readonly number[];
  answer(): void;
  fail(error: unknown): void;
}

/** A lookup whose value is ten times the key. */
function createStatements() {
  const sent: Sent[] = [];
  const lookUpAll = (keys: readonly number[]) =>
    new Promise<number[]>((resolve, reject) => {
      sent.push({ keys, answer: () => resolve(keys.map((key) => key * 10)), fail: reject });
    });
  return { sent, lookUpAll };
}

/** Lets all pending work run, except for the completion of statements. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

const keysOf = (sent: readonly Sent[]) => sent.map((statement) => statement.keys);

describe("lookups", () => {
  test("of one turn of the event loop are sent as one statement, in their order", async () => {
    const { sent, lookUpAll } = createStatements();
    const lookUp = createBatcher(lookUpAll);
    const values = Promise.all([3, 1, 2, 1].map(lookUp));
    expect(sent).toEqual([]);
    await settle();
    expect(keysOf(sent)).toEqual([[3, 1, 2, 1]]);
    sent[0]?.answer();
    expect(await values).toEqual([30, 10, 20, 10]);
  });

  test("that arrive while a statement runs are sent together when it ends", async () => {
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

  test("beyond the limit of a statement are split into several statements", async () => {
    const { sent, lookUpAll } = createStatements();
    const lookUp = createBatcher(lookUpAll, { maxKeys: 3, maxStatements: 10 });
    const values = Promise.all([1, 2, 3, 4, 5, 6, 7].map(lookUp));
    await settle();
    expect(keysOf(sent)).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
    for (const statement of sent.toReversed()) statement.answer();
    expect(await values).toEqual([10, 20, 30, 40, 50, 60, 70]);
  });

  test("run no more statements at once than allowed", async () => {
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

  test("of a failed statement reject with its error, and no others do", async () => {
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

  test("continue after a failed statement", async () => {
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

  test("reject if the function throws before it sends a statement", async () => {
    const lookUp = createBatcher<number, number>(() => {
      throw new Error("no statement");
    });
    await expect(lookUp(1)).rejects.toThrow("no statement");
    await expect(lookUp(2)).rejects.toThrow("no statement");
  });

  test("reject if the number of values differs from the number of keys", async () => {
    const lookUp = createBatcher<number, number>((keys) => Promise.resolve(keys.slice(1)));
    const outcomes = await Promise.allSettled([1, 2, 3].map(lookUp));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected", "rejected"]);
  });

  test("fail at once when too many wait, and late ones when their requests have ended", async () => {
    const { sent, lookUpAll } = createStatements();
    const tooBusy = { reason: "SERVICE_UNAVAILABLE", retryAfterMs: 1000 };
    const limits = { maxKeys: 1, maxStatements: 1, maxWaiting: 2, maxWaitMs: 500 };
    const lookUp = createBatcher(lookUpAll, limits);
    const first = lookUp(1);
    await settle();
    const late = [lookUp(2), lookUp(3)].map((lookup) => lookup.catch((error: unknown) => error));
    await expect(lookUp(4)).rejects.toMatchObject(tooBusy);
    await sleep(510);
    sent[0]?.answer();
    expect(await first).toBe(10);
    expect(await Promise.all(late)).toMatchObject([tooBusy, tooBusy]);
    expect(keysOf(sent)).toEqual([[1]]);
    // There is room again.
    const next = lookUp(5);
    await settle();
    sent[1]?.answer();
    expect(await next).toBe(50);
  });
});
