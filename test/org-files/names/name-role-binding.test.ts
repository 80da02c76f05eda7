import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nameRoleBinding } from "../../../src/org-files/names/name-role-binding.ts";
import { isName } from "../../../src/paths/parse-path.ts";

const roles = ["read", "triage", "write", "maintain", "admin", "owner"];

test("consists of the subject and the role", () => {
  expect(nameRoleBinding("sre", "write")).toBe("sre-write");
});

test("is distinct for each subject and role, however long the subject's name is", () => {
  const part = fc.constantFrom("a", "read", "-read", "b-write", "-0", "x".repeat(30), "admin".repeat(10));
  const subject = fc
    .array(part, { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join("").slice(0, 64))
    .filter(isName);
  const pairs = fc.uniqueArray(fc.tuple(subject, fc.constantFrom(...roles)), { maxLength: 30, selector: String });
  fc.assert(
    fc.property(pairs, (all) => {
      const names = all.map(([each, role]) => nameRoleBinding(each, role));
      expect(names.filter((name) => !isName(name))).toEqual([]);
      expect(new Set(names).size).toBe(all.length);
    }),
    { numRuns: 500 },
  );
});

test("differs between a truncated name and a name that equals the truncated one", () => {
  const long = "a".repeat(64);
  const cut = nameRoleBinding(long, "read");
  expect(cut).toHaveLength(64);
  const lookalike = cut.slice(0, -"-read".length);
  expect(lookalike).toContain(createHash("sha256").update(long).digest("hex").slice(0, 12));
  expect(nameRoleBinding(lookalike, "read")).not.toBe(cut);
});
