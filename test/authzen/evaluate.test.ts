import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EvaluateAllRequestSchema } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { evaluateAll } from "../../src/authzen/evaluate.ts";
import { renewTurnOf } from "../../src/turns/renew-turn.ts";
import { createTurns } from "../../src/turns/turns.ts";

test("evaluations end at the next turn when nobody waits for the answer any more", async () => {
  const controller = new AbortController();
  const renew = renewTurnOf(createTurns(), { orgId: "org" }, controller.signal);
  let renewed = 0;
  const renewTurn = () => {
    if (++renewed === 15) controller.abort();
    return renew();
  };
  const evaluations = Array.from({ length: 100 }, () => ({}));
  const request = create(EvaluateAllRequestSchema, { evaluations });
  let isChecked = false;
  const checkAll = async () => ((isChecked = true), []);
  await expect(evaluateAll(checkAll, renewTurn, request)).rejects.toThrow("abort");
  expect([renewed, isChecked]).toEqual([15, false]);
});
