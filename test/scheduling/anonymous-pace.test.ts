import { expect, test } from "vitest";
import { createAnonymousPace } from "../../src/scheduling/anonymous-pace.ts";

/** A pace of ten a second, after three at once, whose time the test sets. */
function createPace() {
  let now = 0;
  const { begin } = createAnonymousPace({ perSecond: 10, burst: 3, clock: () => now });
  const pass = (ms: number): void => void (now += ms);
  const waitsOf = (network: string, count: number): number[] =>
    Array.from({ length: count }, () => begin(network, {}).waitMs);
  return { begin, pass, waitsOf };
}

test("after a burst, the requests of a network come at their pace", () => {
  const { waitsOf, pass } = createPace();
  expect(waitsOf("a", 6)).toEqual([0, 0, 0, 100, 200, 300]);
  expect(waitsOf("b", 1)).toEqual([0]);
  pass(150);
  expect(waitsOf("a", 1)).toEqual([250]);
});

test("a burst may come again after a pause", () => {
  const { waitsOf, pass } = createPace();
  waitsOf("a", 5);
  pass(10_000);
  expect(waitsOf("a", 4)).toEqual([0, 0, 0, 100]);
});

test("a known caller waits on a new connection alone", () => {
  const { begin, waitsOf } = createPace();
  const connection = {};
  waitsOf("a", 3);
  const first = begin("a", connection);
  expect(first.waitMs).toBe(100);
  first.end("known");
  expect(begin("a", connection).waitMs).toBe(0);
  expect(begin("a", undefined).waitMs).toBe(100);
});

test("an anonymous request on the connection of a known caller counts, and the next one waits", () => {
  const { begin, waitsOf } = createPace();
  const connection = {};
  begin("a", connection).end("known");
  waitsOf("a", 3);
  const anonymous = begin("a", connection);
  expect(anonymous.waitMs).toBe(0);
  anonymous.end("anonymous");
  expect(begin("a", connection).waitMs).toBe(200);
});

test("requests of known callers, and those that end before they are handled, do not count", () => {
  const { begin, waitsOf } = createPace();
  for (let index = 0; index < 10; index++) begin("a", undefined).end("known");
  for (let index = 0; index < 10; index++) begin("a", {}).end("not handled");
  expect(waitsOf("a", 4)).toEqual([0, 0, 0, 100]);
});
