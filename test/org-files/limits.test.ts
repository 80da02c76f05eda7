// Tests what bounds the work that a file makes, before anything is written.
import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { readFile } from "../../src/org-files/read-file.ts";
import { ServiceError } from "../../src/errors/service-error.ts";

/** Reads a file. Returns its violations, or the reason of another error, and how many steps that took. */
function read(file: JsonObject) {
  const steps = readFile({ org: "acme", ...file }, "acme");
  for (let count = 0; ; count++) {
    try {
      if (steps.next().done === true) return { count, violations: [], reason: "" };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { count, violations: error.violations, reason: error.reason };
    }
  }
}

const many = 20_000;
const unknownKeys = Object.fromEntries(Array.from({ length: many }, (_, index) => [`membre${index}`, 1]));

test("an object with many unknown keys is one violation", () => {
  expect(read(unknownKeys).violations).toMatchObject([
    { field: "org_file", description: expect.stringContaining(`has ${many + 1} keys. The keys are org`) },
  ]);
  expect(read({ groups: [{ name: "devs", ...unknownKeys }] }).violations).toHaveLength(1);
});

test.each([
  ["groups", 1],
  ["groups", { nmme: 1 }],
  ["projects", {}],
  ["role_bindings", 1],
])("reading ends at a hundred violations: %s of %j", (key, entry) => {
  const entries = Array.from({ length: many }, () => entry);
  let asked = 0;
  const counted = new Proxy(entries, {
    get(target, name, receiver) {
      if (typeof name === "string" && /^\d+$/.test(name)) asked++;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  expect(read({ [key]: counted }).violations).toHaveLength(100);
  expect(asked).toBeLessThan(300);
});

test("wrong entries are read in steps, as right ones are", () => {
  const groups = Array.from({ length: many }, (_, index) => ({ name: `group${index}` }));
  const right = read({ groups }).count;
  const grants = groups.slice(0, 90).map(() => 1);
  expect(read({ groups, grants }).count).toBeGreaterThanOrEqual(right);
  expect(right).toBeGreaterThan(10);
});

test("a file has no more resources than an org that can be exported", () => {
  const members = Array.from({ length: 60_000 }, (_, index) => `m${index}`);
  expect(read({ members }).reason).toBe("LIMIT_EXCEEDED");
});
