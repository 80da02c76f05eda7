import { expect, test } from "vitest";
import { type CountCall, createCountCall } from "../../../src/rpc/limits/rate-limits.ts";

const none = { rateReadsPerCaller: 0, rateWritesPerCaller: 0, rateReadsPerOrg: 0, rateWritesPerOrg: 0 };

function countCallOf(limits: Partial<typeof none>): CountCall {
  const countCall = createCountCall({ ...none, ...limits }, 60_000);
  if (countCall === undefined) throw new Error("nothing is limited");
  return countCall;
}

const caller = (memberId: string, orgId = "acme") => ({
  memberId,
  orgId,
});

test("nothing is counted without limits", () => {
  expect(createCountCall(none, 60_000)).toBeUndefined();
});

test("of the calls of a moment, exactly as many as the limit are accepted", () => {
  const countCall = countCallOf({ rateReadsPerCaller: 10, rateReadsPerOrg: 25 });
  const callers = ["a", "b", "c"].flatMap((member) => Array.from({ length: 40 }, () => caller(member)));
  const verdicts = callers.map((each) => countCall(each, true));
  const letIn = (member: string) =>
    callers.filter((each, index) => each.memberId === member && verdicts[index]?.refusal === undefined).length;
  expect([letIn("a"), letIn("b"), letIn("c")]).toEqual([10, 10, 5]);
});

test("calls that the limit of their member refuses do not count for the org", () => {
  const countCall = countCallOf({ rateReadsPerCaller: 1, rateReadsPerOrg: 2 });
  const calls = [...Array.from({ length: 20 }, () => caller("a")), caller("b")];
  const verdicts = calls.map((each) => countCall(each, true));
  expect(verdicts[0]?.refusal).toBeUndefined();
  expect(verdicts.at(-1)?.refusal).toBeUndefined();
  expect(verdicts.filter(({ refusal }) => refusal === undefined)).toHaveLength(2);
});

test("where two minutes meet, a caller has no second quota", () => {
  let now = 0;
  const countCall = createCountCall({ ...none, rateReadsPerCaller: 10 }, 60_000, () => now) ?? countCallOf({});
  const accepted = (): number => {
    let count = 0;
    while (countCall(caller("a"), true).refusal === undefined) count++;
    return count;
  };
  countCall(caller("a"), true);
  now = 59_000;
  expect(accepted()).toBe(9);
  now = 61_000;
  expect(accepted()).toBe(1);
  // Half of the minute before counts.
  now = 90_000;
  expect(accepted()).toBe(4);
  now = 300_000;
  expect(accepted()).toBe(10);
});

test("a call is accepted after the delay in the error, and not before", () => {
  let now = 0;
  const countCall = createCountCall({ ...none, rateReadsPerOrg: 7 }, 60_000, () => now) ?? countCallOf({});
  for (let round = 0; round < 200; round++) {
    const delayMs = countCall(caller("a"), true).refusal?.retryAfterMs;
    if (delayMs === undefined) {
      now += 777;
      continue;
    }
    expect(delayMs).toBeLessThanOrEqual(60_001);
    now += delayMs - 2;
    expect(countCall(caller("a"), true).refusal).toBeDefined();
    now += 2;
    expect(countCall(caller("a"), true).refusal).toBeUndefined();
  }
});
