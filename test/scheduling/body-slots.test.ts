import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createBodySlots, leaveBodySlot } from "../../src/scheduling/body-slots.ts";

interface Call {
  readonly signal: AbortSignal;
  readonly values: ContextValues;
}

function createCall(signal = new AbortController().signal): Call {
  return { signal, values: createContextValues() };
}

/** Slots, and the functions that run when the time of those is over, in their order. Four bodies of an org are read at once, two of a caller. */
function createSlots() {
  const ends = new Set<() => void>();
  const slots = createBodySlots({
    after: (run) => {
      ends.add(run);
      return () => void ends.delete(run);
    },
  });
  const read: string[] = [];
  /** @param name of a body: the org, the caller and a number, as in `a-x-1`. */
  const take = (name: string, call = createCall()): Call => {
    const [orgId = "", memberId = ""] = name.split("-");
    void slots.take({ orgId, memberId: `${orgId}-${memberId}` }, call)?.then(
      () => read.push(name),
      (error: unknown) => read.push(`${name}: ${error instanceof Error ? error.message : String(error)}`),
    );
    return call;
  };
  return { slots, take, ends, read, settled: () => new Promise<void>((resolve) => setImmediate(resolve)) };
}

/** Bodies of one caller. */
const bodies = (caller: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${caller}-${index + 1}`);

test("a call that has a slot needs no other", async () => {
  const { slots, take, settled } = createSlots();
  const call = take("a-x-1");
  await settled();
  expect(slots.take({ orgId: "a", memberId: "a-x" }, call)).toBeUndefined();
});

test("long bodies of a caller are read in their order, and wait for no other org", async () => {
  const { take, read, settled } = createSlots();
  const [first] = bodies("a-x", 4).map((name) => take(name));
  take("b-x-1");
  await settled();
  expect(read).toEqual(["a-x-1", "a-x-2", "b-x-1"]);
  leaveBodySlot(first?.values ?? createContextValues(), 1_000);
  await settled();
  expect(read).toEqual(["a-x-1", "a-x-2", "b-x-1", "a-x-3"]);
});

test("the callers of an org share its slots, and have them in turn", async () => {
  const { take, read, settled } = createSlots();
  const ofFirst = bodies("a-x", 100).map((name) => take(name));
  await settled();
  bodies("a-y", 3).map((name) => take(name));
  take("a-z-1");
  await settled();
  expect(read).toEqual(["a-x-1", "a-x-2", "a-y-1", "a-y-2"]);
  leaveBodySlot(ofFirst[0]?.values ?? createContextValues(), 1_000);
  leaveBodySlot(ofFirst[1]?.values ?? createContextValues(), 1_000);
  await settled();
  expect(read.slice(4).toSorted()).toEqual(["a-x-3", "a-z-1"]);
});

test.each([
  ["of 1 MB", 1_000_000],
  ["of an unknown length", undefined],
])("nothing is read for a while in the slot of a body %s, while its caller has others", async (_title, bytes) => {
  const { take, read, ends, settled } = createSlots();
  const [first] = bodies("a-x", 4).map((name) => take(name));
  await settled();
  leaveBodySlot(first?.values ?? createContextValues(), bytes);
  await settled();
  expect(read).toEqual(["a-x-1", "a-x-2"]);
  // The one after the time that the second body may take.
  const [, coolDown] = ends;
  coolDown?.();
  await settled();
  expect(read).toEqual(["a-x-1", "a-x-2", "a-x-3"]);
});

test("a body that comes slowly keeps others from being read no longer than some time", async () => {
  const { take, read, ends, settled } = createSlots();
  const [slow] = bodies("a-x", 4).map((name) => take(name));
  await settled();
  const [end] = ends;
  end?.();
  await settled();
  expect(read).toEqual(["a-x-1", "a-x-2", "a-x-3"]);
  // When it has come at last, the slot of another one is not free.
  leaveBodySlot(slow?.values ?? createContextValues());
  await settled();
  expect(read).toEqual(["a-x-1", "a-x-2", "a-x-3"]);
});

test("of the bodies of an org, 32 are in memory, half of them of one caller", async () => {
  const { take, read, ends, settled } = createSlots();
  const endAll = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      await settled();
      for (const end of ends) end();
      ends.clear();
    }
  };
  const ofFirst = bodies("a-x", 100).map((name) => take(name));
  await endAll();
  expect(read).toHaveLength(16);
  bodies("a-y", 100).map((name) => take(name));
  bodies("a-z", 100).map((name) => take(name));
  await endAll();
  expect(read).toHaveLength(32);
  leaveBodySlot(ofFirst[0]?.values ?? createContextValues());
  await endAll();
  expect(read).toHaveLength(33);
});

test("no more than 500 bodies of a caller wait", async () => {
  const { take, read, settled } = createSlots();
  bodies("a-x", 600).map((name) => take(name));
  take("a-y-1");
  await settled();
  const refused = read.filter((line) => line.includes(": "));
  // Of those that have room, two are read.
  expect(refused).toHaveLength(600 - 500 - 16);
  expect(refused[0]).toMatch("more than 500 calls of the caller wait for their bodies to be read; try again in 1 s");
  expect(read).toContain("a-y-1");
});

test("a call that ends leaves no slot taken, whether its body is being read or waits", async () => {
  const { take, read, ends, settled } = createSlots();
  const [waiting, reading] = [new AbortController(), new AbortController()];
  take("a-x-1");
  take("a-x-2", createCall(reading.signal));
  take("a-x-3", createCall(waiting.signal));
  take("a-x-4");
  await settled();
  waiting.abort(new Error("closed"));
  reading.abort(new Error("closed"));
  await settled();
  // The slot of one that was being read cools down.
  const [, coolDown = () => {}] = ends;
  coolDown();
  ends.delete(coolDown);
  await settled();
  expect(read.toSorted()).toEqual(["a-x-1", "a-x-2", "a-x-3: closed", "a-x-4"]);
  expect(ends.size).toBe(2);
});

test("a call that has ended gets no slot, and takes none", async () => {
  const { take, read, settled } = createSlots();
  const ended = AbortSignal.abort(new Error("closed"));
  bodies("a-x", 40).map((name) => take(name, createCall(ended)));
  take("a-x-41");
  await settled();
  expect(read).toHaveLength(41);
  expect(read).toContain("a-x-41");
});
