import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { type CallLength, createTimeSlices } from "../../src/scheduling/time-slices.ts";

/** Runs calls that take the processor, by a clock that only they move, and notes their order. */
function createPlace(options: Pick<Parameters<typeof createTimeSlices>[0] & object, "maxWaiting" | "after"> = {}) {
  let now = 0;
  const ran: string[] = [];
  const slices = createTimeSlices({
    sliceMs: 4,
    shortMs: 4,
    clock: () => now,
    ...options,
  });
  const take = (orgId: string, length: CallLength = "long", signal?: AbortSignal): Promise<void> | undefined =>
    slices.take({ orgId, length, signal });
  const next = (orgId: string, length: CallLength = "long"): Promise<void> | undefined =>
    slices.ofCall({ orgId, length }).next();
  const run = async (orgId: string, ms: number): Promise<void> => {
    await take(orgId);
    now += ms;
    ran.push(orgId);
  };
  const runShort = async (orgId: string, ms: number): Promise<void> => {
    await take(orgId, "short");
    now += ms;
    ran.push(orgId);
  };
  const advance = (ms: number): void => void (now += ms);
  return { slices, take, next, ran, run, runShort, advance };
}

/** Waits longer than any of the calls takes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

test("a call of another org waits for one call at most, however many an org has sent before", async () => {
  const { ran, run } = createPlace();
  const busy = Array.from({ length: 10 }, () => run("busy", 10));
  const quiet = run("quiet", 1);
  await Promise.all([...busy, quiet]);
  expect(ran.indexOf("quiet")).toBeLessThanOrEqual(3);
  expect(ran).toHaveLength(11);
});

test("calls of one org keep their order", async () => {
  const { take, run } = createPlace();
  await run("a", 10);
  const order: number[] = [];
  const begin = async (number: number): Promise<void> => {
    await take("a");
    order.push(number);
  };
  await Promise.all([1, 2, 3].map(begin));
  expect(order).toEqual([1, 2, 3]);
});

test("orgs have the same share of the time, however long their calls take", async () => {
  const { ran, run } = createPlace();
  const long = Array.from({ length: 5 }, () => run("long", 10));
  const short = Array.from({ length: 40 }, () => run("short", 1));
  await Promise.all([...long, ...short]);
  const shortBefore = (number: number): number => {
    const position = ran.reduce<number[]>((found, org, index) => (org === "long" ? [...found, index] : found), [])[
      number
    ];
    return ran.slice(0, position).filter((org) => org === "short").length;
  };
  expect(shortBefore(2)).toBeGreaterThanOrEqual(10);
  expect(shortBefore(4)).toBeGreaterThanOrEqual(30);
});

test("other work on the event loop runs between slices", async () => {
  const { ran, run } = createPlace();
  const all = Promise.all(Array.from({ length: 3 }, () => run("busy", 10)));
  const seen: number[] = [];
  while (ran.length < 3) {
    await nextTurn();
    seen.push(ran.length);
  }
  await all;
  expect(seen).toContain(2);
});

test("a call runs at once when none has started, and goes on while its slice is not over", async () => {
  const { take, next, run } = createPlace();
  expect(take("a")).toBeUndefined();
  expect(next("a")).toBeUndefined();
  const second = take("b");
  expect(second).toBeInstanceOf(Promise);
  await second;
  await settle();
  await run("a", 3);
  expect(next("a")).toBeUndefined();
  await settle();
  await run("a", 4);
  expect(next("a")).toBeInstanceOf(Promise);
});

test("a long call goes on after those of other orgs", async () => {
  const { next, run, ran } = createPlace();
  const long = (async () => {
    for (let step = 0; step < 3; step++) {
      await run("long", 4);
      await next("long");
    }
  })();
  await Promise.all([long, run("b", 10), run("c", 10)]);
  expect(ran.indexOf("b")).toBeLessThan(ran.lastIndexOf("long"));
  expect(ran.indexOf("c")).toBeLessThan(ran.lastIndexOf("long"));
});

/** Runs a call in steps, each of which uses its slice up, and adds its name for each. */
async function runInSteps(
  { take, next, advance }: ReturnType<typeof createPlace>,
  { name, steps, length }: { readonly name: string; readonly steps: number; readonly length?: CallLength },
  ran: string[],
): Promise<void> {
  await take("org", length);
  for (let step = 0; step < steps; step++) {
    if (step > 0) await next("org", length);
    advance(4);
    ran.push(name);
  }
}

test("a large call ends before the next one of its org begins", async () => {
  const place = createPlace();
  const ran: string[] = [];
  await Promise.all(["x", "y", "z"].map((name) => runInSteps(place, { name, steps: 30, length: "large" }, ran)));
  expect(ran).toEqual(["x", "y", "z"].flatMap((name) => Array(30).fill(name)));
});

test("large calls and the others of their org have every other slice", async () => {
  const place = createPlace();
  const ran: string[] = [];
  await Promise.all([
    ...["x", "y"].map((name) => runInSteps(place, { name, steps: 4, length: "large" }, ran)),
    ...["a", "b"].map((name) => runInSteps(place, { name, steps: 2 }, ran)),
  ]);
  expect(ran.filter((name) => "xy".includes(name)).join("")).toBe("xxxxyyyy");
  expect(ran.filter((name) => "ab".includes(name)).join("")).toBe("abab");
  expect(ran.slice(0, 9).filter((name) => "ab".includes(name))).toHaveLength(4);
});

test("a call whose client has left waits no longer, and keeps no other from its slice", async () => {
  const { take, run } = createPlace({ maxWaiting: 2 });
  await run("busy", 10);
  const left = new AbortController();
  const wait = async (length: CallLength): Promise<void> => take("busy", length, left.signal);
  const waiting = [wait("long"), wait("large")];
  expect(() => take("busy")).toThrow("more than 2 calls");
  left.abort();
  const order: string[] = [];
  const begin = async (name: string): Promise<void> => {
    await take("busy");
    order.push(name);
  };
  // At once: as many wait as may, if those that left did not make room.
  await Promise.all([...["first", "second"].map(begin), ...waiting]);
  expect(order).toEqual(["first", "second"]);
});

test("a call that holds a lock goes on before others of its org, and during the cool-down of the org", async () => {
  const ends: (() => void)[] = [];
  const { slices, ran, run, runShort, advance } = createPlace({ after: (end) => ends.push(end) });
  await Promise.all([runShort("quiet", 1), run("busy", 10), run("busy", 10)]);
  await settle();
  expect(ends).toHaveLength(1);
  const other = run("busy", 1);
  const before = ran.length;
  for (let step = 0; step < 3; step++) {
    expect(slices.ofHolders.next()).toBeUndefined();
    advance(4);
    await slices.ofHolders.next();
  }
  expect(ran).toHaveLength(before);
  ends[0]?.();
  await other;
});

test("calls of one org beyond a number are refused, and those of others are not", async () => {
  const { take, run } = createPlace({ maxWaiting: 2 });
  await run("busy", 10);
  const waiting = [run("busy", 1), run("busy", 1)];
  expect(() => take("busy")).toThrow("more than 2 calls of the org wait for the processor");
  waiting.push(run("quiet", 1));
  await Promise.all(waiting);
  await settle();
  expect(take("busy")).toBeUndefined();
});

test("short calls run at once until those of one turn of the event loop have taken long", async () => {
  const { take, next, runShort } = createPlace();
  expect(take("a", "short")).toBeUndefined();
  expect(take("a", "short")).toBeUndefined();
  await runShort("a", 4);
  // Further ones of an org that has the process to itself run on.
  expect(take("a", "short")).toBeUndefined();
  expect(take("b", "short")).toBeInstanceOf(Promise);
  expect(next("a", "short")).toBeInstanceOf(Promise);
  expect(take("a", "short")).toBeInstanceOf(Promise);
  await settle();
  expect(take("a", "short")).toBeUndefined();
});

test("short calls of an org alone wait, too, when they take very long", async () => {
  const { take, runShort } = createPlace();
  await runShort("a", 20);
  expect(take("a", "short")).toBeInstanceOf(Promise);
});

test("a short call of another org waits for few of those that an org has sent before, however long they take", async () => {
  const { ran, runShort } = createPlace();
  await runShort("quiet", 1);
  await runShort("busy", 10);
  ran.length = 0;
  const busy = Array.from({ length: 20 }, () => runShort("busy", 10));
  const quiet = runShort("quiet", 1);
  await Promise.all([...busy, quiet]);
  expect(ran.indexOf("quiet")).toBeLessThanOrEqual(3);
});

test("long calls get their slices while short ones come in each turn of the event loop", async () => {
  const { ran, run, runShort } = createPlace();
  await run("long", 10);
  const long = [run("long", 1), run("long", 1)];
  for (let turn = 0; turn < 10; turn++) {
    void runShort("short", 10);
    await nextTurn();
  }
  await Promise.all(long);
  expect(ran.filter((org) => org === "long")).toHaveLength(3);
  expect(ran.lastIndexOf("long")).toBeLessThan(10);
});

test("an org has a cool-down after a slice that is used up if another one calls, and not if it has the process to itself", async () => {
  const ends: (() => void)[] = [];
  const { take, ran, run, runShort } = createPlace({ after: (end) => ends.push(end) });
  await Promise.all([run("busy", 4), run("busy", 4)]);
  await settle();
  expect(ends).toEqual([]);
  await Promise.all([runShort("quiet", 1), run("busy", 4), run("busy", 4)]);
  await settle();
  expect(ends).toHaveLength(1);
  const busy = [run("busy", 1), runShort("busy", 1)];
  for (let turn = 0; turn < 5; turn++) {
    await run("quiet", 1);
    await nextTurn();
  }
  expect(take("quiet", "short")).toBeUndefined();
  expect(ran.slice(-5)).toEqual(Array(5).fill("quiet"));
  ends[0]?.();
  await Promise.all(busy);
  expect(ran.slice(-2)).toEqual(["busy", "busy"]);
});
