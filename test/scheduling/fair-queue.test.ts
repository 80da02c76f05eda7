import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type FairQueue, createFairQueue } from "../../src/scheduling/fair-queue.ts";

/** Calls that run until the test ends them. */
function createCalls(queue: FairQueue) {
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, orgId: string, target?: string, signal = new AbortController().signal) =>
    queue.run({ orgId, target, signal: () => signal }, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      running.splice(running.indexOf(name), 1);
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  };
  return { running, start, end };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> => call.then(undefined, (error: unknown) => error);

describe("a fair queue", () => {
  test("runs a few calls on one target at once, in their order", async () => {
    const { running, start, end } = createCalls(createFairQueue({ capacity: 8, perTarget: 2 }));
    const calls = ["1", "2", "3", "4"].map((name) => start(name, "acme", "acme"));
    expect(running).toEqual(["1", "2"]);
    await end("2");
    expect(running).toEqual(["1", "3"]);
    for (const name of ["1", "3", "4"]) await end(name);
    await Promise.all(calls);
    expect(running).toEqual([]);
  });

  test("keeps a quarter of its capacity free of one org, whatever its calls lock", async () => {
    const { running, start, end } = createCalls(createFairQueue({ capacity: 4, perTarget: 4 }));
    const names = ["a1", "a2", "a3", "a4", "a5"];
    const calls = names.map((name, index) => start(name, "acme", index % 2 === 0 ? undefined : name));
    expect(running).toEqual(["a1", "a2", "a3"]);
    calls.push(start("b1", "beta"));
    expect(running).toContain("b1");
    for (const name of [...names, "b1"]) await end(name);
    await Promise.all(calls);
  });

  test("lets orgs have their turns one after the other", async () => {
    const { running, start, end } = createCalls(createFairQueue({ capacity: 1, perTarget: 1 }));
    const calls = ["a1", "a2", "a3"].map((name) => start(name, "acme"));
    calls.push(start("b1", "beta"), start("c1", "gamma"));
    const order: string[] = [];
    while (running[0] !== undefined) {
      order.push(running[0]);
      await end(running[0]);
    }
    expect(order).toEqual(["a1", "a2", "b1", "c1", "a3"]);
    await Promise.all(calls);
  });

  test("does not let a call that waits for its target hold up others of its org, or of others", async () => {
    const { running, start, end } = createCalls(createFairQueue({ capacity: 8, perTarget: 1 }));
    const calls = [start("a1", "acme", "acme"), start("a2", "acme", "acme")];
    calls.push(start("operator", "acme", "beta"), start("b1", "beta", "gamma"));
    expect(running).toEqual(["a1", "operator", "b1"]);
    for (const name of ["a1", "a2", "operator", "b1"]) await end(name);
    await Promise.all(calls);
  });

  test("starts each call that has room when one ends", async () => {
    // One org has all it may have, and another waits for its target.
    const { running, start, end } = createCalls(createFairQueue({ capacity: 4, perTarget: 1 }));
    const calls = ["x", "y", "z"].map((target) => start(target, "acme", target));
    calls.push(start("next", "acme", "u"), start("other", "beta", "x"));
    expect(running).toEqual(["x", "y", "z"]);
    await end("x");
    expect(running.toSorted()).toEqual(["next", "other", "y", "z"]);
    for (const name of ["next", "other", "y", "z"]) await end(name);
    await Promise.all(calls);
  });

  test("forgets a call whose caller has left, without running it", async () => {
    const { running, start, end } = createCalls(createFairQueue({ capacity: 1, perTarget: 1 }));
    const first = start("1", "acme");
    const leaving = new AbortController();
    const left = failureOf(start("2", "acme", undefined, leaving.signal));
    const last = start("3", "acme");
    leaving.abort(new Error("gone"));
    expect(await left).toEqual(new Error("gone"));
    await end("1");
    expect(running).toEqual(["3"]);
    await end("3");
    await Promise.all([first, last]);
  });

  test("refuses a call of an org of which too many wait, and takes others", async () => {
    const { start, end } = createCalls(createFairQueue({ capacity: 2, perTarget: 1, maxWaiting: 2 }));
    const calls = ["1", "2", "3"].map((name) => start(name, "acme", "acme"));
    expect(await failureOf(start("4", "acme", "acme"))).toMatchObject({ reason: "RATE_LIMITED", retryAfterMs: 1000 });
    calls.push(start("b1", "beta", "beta"));
    for (const name of ["b1", "1", "2", "3"]) await end(name);
    await Promise.all(calls);
  });

  test("goes on after a call that fails", async () => {
    const queue = createFairQueue({ capacity: 1, perTarget: 1 });
    const call = { orgId: "acme", target: undefined, signal: () => new AbortController().signal };
    const failing = queue.run(call, () => Promise.reject(new Error("no")));
    const next = queue.run(call, () => Promise.resolve(1));
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe(1);
  });
});
