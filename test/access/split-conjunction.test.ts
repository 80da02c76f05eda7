import { expect, test } from "vitest";
import { checkCondition } from "../../src/access/conditions/compile-condition.ts";
import { splitConjunction } from "../../src/access/conditions/split-conjunction.ts";

test.each<readonly [condition: string, parts: readonly string[]]>([
  ['resource.path == "/a"', ['resource.path == "/a"']],
  ["context.a && context.b", ["context.a", "context.b"]],
  [" ( context.a&&(context.b\n&& !context.c) ) ", ["context.a", "context.b", "!context.c"]],
  ["context.a && context.b || context.c", ["context.a && context.b || context.c"]],
  ["context.a && (context.b || context.c)", ["context.a", "context.b || context.c"]],
  ["context.a && context.b ? context.c : context.d", ["context.a && context.b ? context.c : context.d"]],
  ["(context.a) && (context.b)", ["context.a", "context.b"]],
  ["(context.a) == (context.b == true) && context.c", ["(context.a) == (context.b == true)", "context.c"]],
  ['subject.path == "a && b" && context.a', ['subject.path == "a && b"', "context.a"]],
  [String.raw`subject.path == "a\"&&" && context.a`, [String.raw`subject.path == "a\"&&"`, "context.a"]],
  [String.raw`subject.path == r'\' && context.a`, [String.raw`subject.path == r'\'`, "context.a"]],
  ["subject.path == '''a' && b''' && context.a", ["subject.path == '''a' && b'''", "context.a"]],
  [
    String.raw`subject.path == '''a\''' && b''' && context.a`,
    [String.raw`subject.path == '''a\''' && b'''`, "context.a"],
  ],
  [
    String.raw`subject.path == r"""a\""" && subject.path == """\""" && b"""`,
    [String.raw`subject.path == r"""a\"""`, String.raw`subject.path == """\""" && b"""`],
  ],
  ["context.a // && (\n && context.b", ["context.a // && (", "context.b"]],
  ['context.a in ["x", "y && z"] && context.b', ['context.a in ["x", "y && z"]', "context.b"]],
  ["context.bar && context.r", ["context.bar", "context.r"]],
])("%s has the parts %j", (condition, parts) => {
  expect(checkCondition(condition)).toBe(undefined);
  expect(splitConjunction(condition)).toEqual(parts);
  // A comment ends with its line.
  for (const part of parts) expect(checkCondition(`${part}\n`)).toBe(undefined);
});
