// The builder of conditions: what it writes means the same when it is read, and is accepted by the service.
import { describe, expect, test } from "vitest";
import { readCondition } from "../../console/src/screens/grants/condition/read-condition.ts";
import { type About, firstPart, operatorsOf, type Part } from "../../console/src/screens/grants/condition/parts.ts";
import { writeCondition } from "../../console/src/screens/grants/condition/write-condition.ts";
import { checkCondition, compileCondition } from "../../src/access/conditions/compile-condition.ts";

const abouts = Object.keys(operatorsOf) as About[];

const valueOf = (about: About): string =>
  about === "time" ? "2026-12-04T17:00:00Z" : firstPart(about).value || `of "${about}" \\ \n`;

const parts: readonly Part[] = abouts.flatMap((about) =>
  operatorsOf[about].map((operator) => ({ ...firstPart(about), operator, value: valueOf(about) })),
);

describe("what the builder writes", () => {
  test.each(parts)("is accepted and read again: $about $operator", (part) => {
    const text = writeCondition([part]);
    expect([checkCondition(text), readCondition(text)]).toEqual([undefined, [part]]);
  });

  test("is accepted and read again for all comparisons at once", () => {
    const text = writeCondition(parts);
    expect([checkCondition(text), readCondition(text)]).toEqual([undefined, parts]);
  });

  test.each(["cost-centre", "in", "", 'a"b', "étage", "9th"])("is read again with the key %j", (key) => {
    const label: Part = { about: "label", key, operator: "==", value: "x" };
    const attribute: Part = { ...label, about: "context" };
    const text = writeCondition([label, attribute]);
    expect([checkCondition(text), readCondition(text)]).toEqual([undefined, [label, attribute]]);
  });

  test("decides as it says", () => {
    const text = writeCondition([
      { about: "label", key: "env", operator: "==", value: "dev" },
      { about: "context", key: "ip", operator: "startsWith", value: "192.0.2." },
      { about: "hour", key: "Europe/Berlin", operator: "<", value: "18" },
    ]);
    const holds = (ip: string, time: string): boolean =>
      compileCondition(text)({
        request: { time: new Date(time) },
        resource: { path: "/orgs/acme", labels: { env: "dev" } },
        subject: { path: "/orgs/acme/members/alice", type: "member" },
        context: { ip },
      });
    expect([
      holds("192.0.2.7", "2026-12-04T16:59:00Z"),
      holds("192.0.2.7", "2026-12-04T17:00:00Z"),
      holds("198.51.100.7", "2026-12-04T12:00:00Z"),
    ]).toEqual([true, false, false]);
  });
});

describe("a text", () => {
  test.each([
    ["", []],
    ["(resource.labels['env'] == 'dev')", [{ about: "label", key: "env", operator: "==", value: "dev" }]],
    ["request.time.getHours() >= 9", [{ about: "hour", key: "UTC", operator: ">=", value: "9" }]],
    [
      'subject.type == "group" && (resource.path.contains("/machines/") && context.ip != "::1")',
      [
        { about: "subject", key: "", operator: "==", value: "group" },
        { about: "path", key: "", operator: "contains", value: "/machines/" },
        { about: "context", key: "ip", operator: "!=", value: "::1" },
      ],
    ],
  ] as const)("that the builder knows is read: %s", (text, expected) => {
    expect(readCondition(text)).toEqual(expected);
  });

  test.each([
    'resource.labels.env == "dev" || resource.labels.env == "test"',
    '!(resource.labels.env == "dev")',
    "has(context.ip)",
    'has(context.ip) == "x"',
    '"dev" == resource.labels.env',
    "resource.labels.env == resource.labels.stage",
    "resource.labels.env.size() == 3",
    'resource.labels.env < "dev"',
    "request.time.getHours(context.zone) == 9",
    "request.time.getMinutes() == 9",
    "request.time.getHours() >= 9.5",
    'context.user.ip == "x"',
    "resource.labels.env ==",
    `resource.path == "${"x".repeat(2_048)}"`,
  ])("that the builder does not know is shown as text alone: %.60s", (text) => {
    expect(readCondition(text)).toBeUndefined();
  });
});
