import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EvaluateAllRequestSchema } from "../../../gen/authzen/v1/authorization_api_pb.ts";
import { evaluateAll } from "../../../src/iam/access-checks/authzen/evaluate.ts";
import { renewTurnOf } from "../../../src/turns/renew-turn.ts";
import { createTurns } from "../../../src/turns/turns.ts";

test("evaluations end at the next turn when nobody waits for the answer any more", async () => {
  const controller = new AbortController();
  let evaluated = 0;
  const evaluate = (): Promise<boolean> => {
    if (++evaluated === 15) controller.abort();
    return Promise.resolve(true);
  };
  const evaluations = Array.from({ length: 100 }, () => ({}));
  const request = create(EvaluateAllRequestSchema, { evaluations });
  const caller = { orgId: "org" } as never;
  const renewTurn = renewTurnOf(createTurns(), { orgId: "org" }, controller.signal);
  await expect(evaluateAll(evaluate, renewTurn, caller, request)).rejects.toThrow("abort");
  expect(evaluated).toBe(20);
});
