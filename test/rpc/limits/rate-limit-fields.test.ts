import { expect, test } from "vitest";
import { formatPolicies, formatLimitStates } from "../../../src/rpc/limits/rate-limit-fields.ts";

test("policies are named, with the number of requests and seconds", () => {
  expect(formatPolicies([{ name: "caller-reads", quota: 600, windowMs: 60_000 }])).toBe('"caller-reads";q=600;w=60');
  expect(
    formatPolicies([
      { name: "caller-writes", quota: 1, windowMs: 60_000 },
      { name: "org-writes", quota: 10_000_000, windowMs: 400 },
    ]),
  ).toBe('"caller-writes";q=1;w=60, "org-writes";q=10000000;w=1');
});

test.each([
  [60_000, 60],
  [12_001, 13],
  [12_000, 12],
  [1, 1],
  [0, 0],
  [-1_500, 0],
])(
  "a window that ends in %i ms is written as %i whole seconds, so that nobody retries too early",
  (resetMs, seconds) => {
    expect(formatLimitStates([{ name: "org-reads", left: 5, resetMs }])).toBe(`"org-reads";r=5;t=${seconds}`);
  },
);

test("the remaining requests are written for each limit", () => {
  const limitStates = [
    { name: "caller-reads", left: 0, resetMs: 1_000 },
    { name: "org-reads", left: 12, resetMs: 2_000 },
  ];
  expect(formatLimitStates(limitStates)).toBe('"caller-reads";r=0;t=1, "org-reads";r=12;t=2');
});
