import { expect, test } from "vitest";
import { takeLabelTests } from "../../src/filters/label-tests.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { thingFields } from "./things.ts";

const taken = (filter: string) => takeLabelTests(readFilter(filter, thingFields)).labels;

test.each([
  ['labels.env = "prod"', [{ key: "env", value: "prod" }]],
  ["labels.env:prod", [{ key: "env", value: "prod" }]],
  ["labels.env:*", [{ key: "env" }]],
  ["labels:env", [{ key: "env" }]],
  [
    'name = "a" labels.a = 1 AND (labels.b = 2 AND labels:c)',
    [{ key: "a", value: "1" }, { key: "b", value: "2" }, { key: "c" }],
  ],
])("labels that all rows must have are extracted: %s", (filter, labels) => {
  expect(taken(filter)).toEqual(labels);
});

test.each([
  "",
  'name = "a"',
  "labels:*",
  'labels.env != "prod"',
  'labels.env = "p*"',
  'NOT labels.env = "prod"',
  'labels.env = "prod" OR labels.env = "test"',
  'labels.env = ("prod" OR "test")',
])("other conditions are not extracted: %s", (filter) => {
  expect(taken(filter)).toEqual([]);
});

test("at most three labels are extracted, and the others remain conditions", () => {
  const { labels, others } = takeLabelTests(readFilter("labels:a labels:b labels:c labels:d name:x", thingFields));
  expect(labels.map(({ key }) => key)).toEqual(["a", "b", "c"]);
  expect(others).toMatchObject({ kind: "all", conditions: [{ operand: { key: "d" } }, { kind: "contains" }] });
});
