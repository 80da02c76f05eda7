import { expect, test } from "vitest";
import { createLooks } from "../../src/jobs/looks.ts";

/** Looks of a job that is asked each second. Returns the seconds at which it looks. */
function createSeconds(find: (second: number) => { hasWorked?: boolean; nextInMs?: number } = () => ({})) {
  let [second, writes] = [0, 0];
  const looks = createLooks({ writes: () => writes, clock: () => second * 1_000 });
  return {
    write: () => void writes++,
    pass(seconds: number): number[] {
      const looked: number[] = [];
      for (const end = second + seconds; second < end; second++) {
        if (!looks.isDue()) continue;
        looks.begin();
        looked.push(second);
        const { hasWorked = false, nextInMs } = find(second);
        looks.end(hasWorked, nextInMs);
      }
      return looked;
    },
  };
}

test("a job that finds nothing looks ever more rarely, and once a minute in the end", () => {
  const { pass } = createSeconds();
  expect(pass(300)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
});

test("after a write of this server it looks at once, and again soon", () => {
  const { pass, write } = createSeconds();
  pass(300);
  write();
  expect(pass(10)).toEqual([300, 301, 303, 307]);
});

test("a write that ends while it looks makes it look again", () => {
  const place = createSeconds((second) => {
    if (second === 3) place.write();
    return {};
  });
  expect(place.pass(8)).toEqual([0, 1, 3, 4, 5, 7]);
});

test("a look that took long is not followed for ten times as long, whatever is written or due", () => {
  let [writes, nowMs] = [0, 0];
  const looks = createLooks({ writes: () => writes, clock: () => nowMs });
  looks.begin();
  nowMs = 500;
  looks.end(false, 100, 500);
  writes++;
  const dueAt = Array.from({ length: 100 }, (_, index) => 500 + index * 500).find((at) => {
    nowMs = at;
    return looks.isDue();
  });
  expect(dueAt).toBe(500 + 10 * 500);
});

test("it looks when what it has seen is due, and as long as there is something to do", () => {
  const dueAt = 100;
  const { pass } = createSeconds((second) =>
    second < dueAt ? { nextInMs: (dueAt - second) * 1_000 } : { hasWorked: second < dueAt + 3 },
  );
  expect(pass(110)).toEqual([0, 1, 3, 7, 15, 31, 63, 100, 101, 102, 103, 104, 106]);
});
