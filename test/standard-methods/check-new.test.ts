import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ServiceError, invalidField } from "../../src/errors/service-error.ts";
import type { Outcome, ServedResource } from "../../src/standard-methods/rules.ts";
import { checkNew } from "../../src/standard-methods/write/check-new.ts";
import type { CallSlices } from "../../src/scheduling/call-slices.ts";
import { createTimeSlices } from "../../src/scheduling/time-slices.ts";

type Served = ServedResource<"role_bindings", never, DescMessage>;

const messages = ["first", "second", "third"].map((name) => ({ $typeName: "test", name }));

/** Checks the messages in time slices, and returns what was found and what ran in which order. Each check takes 5 ms of a clock. */
async function runChecks(check: (name: string) => string) {
  const order: string[] = [];
  let nowMs = 0;
  const slices = createTimeSlices({ clock: () => nowMs });
  const startCheck = () => (message: object) => {
    const { name } = message as { name: string };
    order.push(name);
    nowMs += 5;
    return check(name);
  };
  let isOver = false;
  const others = (): void => {
    order.push("others");
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  const outcomes = await checkNew(
    { rules: { startCheck } } as unknown as Served,
    messages as never,
    slices.ofCall({ orgId: "a", length: "large" }),
  );
  isOver = true;
  return { order, outcomes: outcomes as readonly Outcome<string>[] };
}

test("others run between the checks of two new resources", async () => {
  const { order, outcomes } = await runChecks((name) => `${name}, checked`);
  for (const name of ["second", "third"]) expect(order[order.indexOf(name) - 1]).toBe("others");
  expect(outcomes.map((outcome) => outcome())).toEqual(["first, checked", "second, checked", "third, checked"]);
});

test("what is wrong ends the checks, and is told when the resource is created", async () => {
  const { order, outcomes } = await runChecks((name) => {
    if (name === "second") throw invalidField("name", `must not be ${name}`);
    return name;
  });
  expect(order).not.toContain("third");
  expect(outcomes).toHaveLength(2);
  expect(outcomes[0]?.()).toBe("first");
  for (let times = 0; times < 2; times++) expect(outcomes[1]).toThrow(ServiceError);
});

test("a resource whose rules have nothing to check takes no slice", async () => {
  const found = await checkNew({ rules: {} } as unknown as Served, messages as never, {} as unknown as CallSlices);
  expect(found).toEqual([]);
});
