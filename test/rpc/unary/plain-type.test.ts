import { expect, test } from "vitest";
import { toPlainType } from "../../../src/rpc/unary/plain-type.ts";
import { ratioOf } from "../../support/cpu-time.ts";

test.each([
  ["Application/JSON", "application/json"],
  ["application/json;charset=utf-8", "application/json; charset=utf-8"],
  ['Application/JSON \t;  Charset="UTF-8" ', "application/json; charset=utf-8"],
  ["application/json; charset=latin1", "application/json; charset=latin1"],
  ["application/json; a=b; charset=utf-8", "application/json; a=b; charset=utf-8"],
  ["application/json;", "application/json;"],
])("%s is %s", (given, plain) => {
  expect(toPlainType(given)).toBe(plain);
});

const spaces = " ".repeat(15_000);

test.each([
  ["spaces", `application/json${spaces}x`],
  ["spaces after the semicolon", `application/json;${spaces}x`],
  ["spaces after the charset", `application/json; charset=utf-8${spaces}x`],
])("%s take linear time", (_what, given) => {
  const ratio = ratioOf(
    () => toPlainType(given),
    () => Array.from(given),
  );
  expect(ratio).toBeLessThan(10);
});
