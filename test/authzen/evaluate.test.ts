import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EvaluateAllRequestSchema } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { evaluateAll } from "../../src/authzen/evaluate.ts";
import { createCallSlices } from "../../src/scheduling/call-slices.ts";
import { createTimeSlices } from "../../src/scheduling/time-slices.ts";

test("evaluations end at the next slice when nobody waits for the answer any more", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const { next } = createTimeSlices().ofCall({ orgId: "org", length: "large", signal });
  let asked = 0;
  const slices = createCallSlices(() => {
    if (++asked === 15) controller.abort();
    return next();
  });
  const evaluations = Array.from({ length: 100 }, () => ({}));
  const request = create(EvaluateAllRequestSchema, { evaluations });
  let isChecked = false;
  const checkAll = async () => ((isChecked = true), []);
  await expect(evaluateAll(checkAll, slices, request, [])).rejects.toThrow("abort");
  expect([asked, isChecked]).toEqual([15, false]);
});
