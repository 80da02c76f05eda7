import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type CountCall, createCountCall } from "../../src/rpc/rate-limits.ts";

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

test("of concurrent calls, exactly as many as the limit are accepted", async () => {
  const countCall = countCallOf({ rateReadsPerCaller: 10, rateReadsPerOrg: 25 });
  const callers = ["a", "b", "c"].flatMap((member) => Array.from({ length: 40 }, () => caller(member)));
  const verdicts = await Promise.all(callers.map((each) => countCall(each, true)));
  const letIn = (member: string) =>
    callers.filter((each, index) => each.memberId === member && verdicts[index]?.refusal === undefined).length;
  expect([letIn("a"), letIn("b"), letIn("c")]).toEqual([10, 10, 5]);
});

test("calls that the limit of their member refuses do not count for the org", async () => {
  const countCall = countCallOf({ rateReadsPerCaller: 1, rateReadsPerOrg: 2 });
  const calls = [...Array.from({ length: 20 }, () => caller("a")), caller("b")];
  const verdicts = await Promise.all(calls.map((each) => countCall(each, true)));
  expect(verdicts[0]?.refusal).toBeUndefined();
  expect(verdicts.at(-1)?.refusal).toBeUndefined();
  expect(verdicts.filter(({ refusal }) => refusal === undefined)).toHaveLength(2);
});

test("the counting does not keep a process from ending", async () => {
  const module = join(import.meta.dirname, "../../src/rpc/rate-limits.ts");
  const program = `
    import { createCountCall } from ${JSON.stringify(module)};
    const limits = ${JSON.stringify({ ...none, rateReadsPerCaller: 1 })};
    await createCountCall(limits, 60_000)({ memberId: "a", orgId: "b", credentialId: "c", credentialExpireTime: null, grantsUntil: null, orgHead: { revision: "1", readAt: 0 }, time: 0 }, true);
    console.log("counted");`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    timeout: 20_000,
  });
  expect(stdout).toBe("counted\n");
});
