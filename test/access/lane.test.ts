import { expect, test } from "vitest";
import { createLane } from "../../src/access/lane.ts";

/** Tasks that end when the test says so, and the names of those that have started. */
function createTasks() {
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    started,
    task(name: string) {
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return () => {
        started.push(name);
        return end.promise;
      };
    },
    end: (name: string) => ends.get(name)?.resolve(name),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("tasks start in the order in which they come, so many at once", async () => {
  const { started, task, end } = createTasks();
  const inLane = createLane(2);
  const all = ["one", "two", "three", "four"].map((name) => inLane(task(name)));
  await nextTurn();
  expect(started).toEqual(["one", "two"]);
  end("two");
  await nextTurn();
  expect(started).toEqual(["one", "two", "three"]);
  for (const name of ["one", "three", "four"]) end(name);
  expect(await Promise.all(all)).toEqual(["one", "two", "three", "four"]);
});

test("one that fails gives its place to the next, and who comes later does not get it first", async () => {
  const { started, task, end, fail } = createTasks();
  const inLane = createLane(1);
  const [one, two] = [inLane(task("one")), inLane(task("two"))];
  fail("one");
  await expect(one).rejects.toThrow("one");
  const three = inLane(task("three"));
  await nextTurn();
  expect(started).toEqual(["one", "two"]);
  end("two");
  end("three");
  expect(await Promise.all([two, three])).toEqual(["two", "three"]);
  const four = inLane(task("four"));
  end("four");
  expect(await four).toBe("four");
});
