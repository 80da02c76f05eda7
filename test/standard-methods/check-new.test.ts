import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ServiceError, invalidField } from "../../src/errors/service-error.ts";
import type { ServedResource } from "../../src/standard-methods/rules.ts";
import { checkNew, onceForEach } from "../../src/standard-methods/write/check-new.ts";
import type { WriteRequest } from "../../src/standard-methods/write/write-call.ts";
import { createTurns } from "../../src/turns/turns.ts";

type Served = ServedResource<"role_bindings", never, DescMessage>;

const messages = ["first", "second", "third"].map((name) => ({ $typeName: "test", name }));

/** Checks the messages in turns, and returns what ran in which order. Each check takes 5 ms of a clock. */
async function orderOf(check: (name: string) => void): Promise<string[]> {
  const order: string[] = [];
  let nowMs = 0;
  const turns = createTurns({ clock: () => nowMs });
  const startCheck = () => (message: object) => {
    const { name } = message as { name: string };
    order.push(name);
    nowMs += 5;
    check(name);
  };
  let isOver = false;
  const others = (): void => {
    order.push("others");
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  const request = { caller: { orgId: "a" }, signal: () => new AbortController().signal };
  await checkNew(
    { rules: { startCheck }, dependencies: { turns } } as unknown as Served,
    request as unknown as WriteRequest,
    messages as never,
  );
  isOver = true;
  return order;
}

test("others run between the checks of two new resources", async () => {
  const order = await orderOf(() => undefined);
  for (const name of ["second", "third"]) expect(order[order.indexOf(name) - 1]).toBe("others");
});

test("what is wrong ends the checks, and is told when the resource is created", async () => {
  const check = onceForEach((name: { readonly text: string }) => {
    throw invalidField("name", `must not be ${name.text}`);
  });
  const message = { text: "second" };
  const order = await orderOf((name) => {
    if (name === "second") check(message);
  });
  expect(order).not.toContain("third");
  expect(() => check(message)).toThrow(ServiceError);
});

test("a check is made once for each message, and once more for another one", () => {
  const checked: string[] = [];
  const check = onceForEach(({ text }: { readonly text: string }) => void checked.push(text));
  const [one, other] = [{ text: "a" }, { text: "a" }];
  for (const message of [one, other, one]) check(message);
  expect(checked).toEqual(["a", "a"]);
});
