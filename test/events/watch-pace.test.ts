// Tests for whom the parts of a long revision wait.
import { expect, test } from "vitest";
import { createPace } from "../../src/events/watch/pace.ts";
import { createStreamQueue } from "../../src/events/watch/stream-queue.ts";

/** A reader that has items to take. */
function readerWith(...items: readonly string[]) {
  const queue = createStreamQueue<string>({ items: 10, bytes: 100 });
  for (const item of items) queue.push(item, 1);
  return queue;
}

/** A pace that says when its patience begins, which ends at once if that is so, or never. */
function paceWith(ends: boolean) {
  const patience = { ends, begun: 0 };
  const pace = createPace(() => {
    patience.begun++;
    return patience.ends ? Promise.resolve() : new Promise(() => {});
  });
  return { pace, patience };
}

test("a part waits until all have taken the one before", async () => {
  const { pace } = paceWith(false);
  const [first, second] = [readerWith("a"), readerWith("a")];
  let isTaken = false;
  pace.begin();
  const taken = pace.whenTaken([first, second]).then(() => (isTaken = true));
  await first.take();
  await new Promise(setImmediate);
  expect(isTaken).toBe(false);
  await second.take();
  await taken;
});

test("who does not read is waited for once, also in later revisions", async () => {
  const { pace, patience } = paceWith(true);
  const stopped = readerWith("a");
  for (let revision = 0; revision < 3; revision++) {
    pace.begin();
    for (let part = 0; part < 3; part++) await pace.whenTaken([stopped]);
  }
  expect(patience.begun).toBe(1);
});

test("who was too slow is waited for again in the next revision after it has taken everything, and not in the same one", async () => {
  const { pace, patience } = paceWith(true);
  const reader = readerWith("a");
  pace.begin();
  await pace.whenTaken([reader]);
  await reader.take();
  reader.push("b", 1);
  await pace.whenTaken([reader]);
  expect(patience.begun).toBe(1);
  await reader.take();
  pace.begin();
  reader.push("c", 1);
  await pace.whenTaken([reader]);
  expect(patience.begun).toBe(2);
});

test("a reader that has left is not waited for", async () => {
  const { pace } = paceWith(false);
  const reader = readerWith("a");
  const taken = pace.whenTaken([reader]);
  reader.clear();
  reader.end(new Error("it has left"));
  await taken;
});
