// Labels as people write them in forms.
import { expect, test } from "vitest";
import { readLabels, writeLabels } from "../../console/src/ui/labels.ts";

test.each([
  {},
  { env: "dev" },
  { "b.example.com/team": "web", a: "", "a-b_c": "x=y=z" },
  { quoted: '"dev"', open: '"', spaces: "  two  ", wide: "\u00a0x\u3000", line: "one\u2028two", right: "\u202edev" },
])("are read as what they are written from: %j", (labels) => {
  expect(readLabels(writeLabels(labels))).toEqual(labels);
});

test("are written in the order of their keys, each in a line", () => {
  expect(writeLabels({ tier: "2", env: "dev" })).toBe("env=dev\ntier=2");
});

test("are read with empty lines, spaces, and the ends of lines that browsers send", () => {
  expect(readLabels("\n  env = dev \r\n\r\ntier=2")).toEqual({ env: "dev", tier: "2" });
});

test.each([
  ["env=dev\ntier", "labels: line 2 must be a key and a value with = between them, such as env=dev"],
  ["env=dev\n\nenv=live", "labels: line 3 has the key env, which an earlier line has: each key once"],
])("a line that is none is named: %j", (text, message) => {
  expect(() => readLabels(text)).toThrow(expect.objectContaining({ rawMessage: message }));
});
