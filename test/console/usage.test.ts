// What the screens about usage ask, and how they show the answer.
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { type UsageSearch, readUsageSearch } from "../../console/src/app/usage-search.ts";
import { invalidField } from "../../console/src/calls/invalid-field.ts";
import { readPeriod } from "../../console/src/screens/usage/asked-period.ts";
import { toDistinctNames } from "../../console/src/screens/usage/distinct-names.ts";
import { scaleOf } from "../../console/src/screens/usage/scale.ts";
import { toDrawnLines, toShownUsage } from "../../console/src/screens/usage/usage-lines.ts";
import { readUsageProblem } from "../../console/src/screens/usage/usage-problem.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type UsageSeries, UsageSeriesSchema } from "../../gen/iam/v1alpha/usage_pb.ts";

const now = Date.parse("2026-11-29T09:30:00Z");
const dayMs = 86_400_000;

describe("what is asked", () => {
  const asked = (search: UsageSearch) => {
    const { fields, step } = readPeriod(search, now);
    const [from, to] = [fields.fromTime, fields.toTime].map((time) =>
      time === undefined
        ? ""
        : timestampDate(time as never)
            .toISOString()
            .slice(0, 16),
    );
    return [from, to, step, Number(fields.step?.seconds)];
  };

  test.each<[UsageSearch, string, string, string, number]>([
    [{}, "2026-11-22T10:00", "", "hour", 3_600],
    [{ period: "24h" }, "2026-11-28T10:00", "", "hour", 3_600],
    [{ period: "24h", step: "month" }, "2026-11-28T10:00", "", "hour", 3_600],
    [{ period: "7d", step: "day" }, "2026-11-23T00:00", "", "day", 86_400],
    [{ period: "30d" }, "2026-10-31T00:00", "", "day", 86_400],
    [{ period: "30d", step: "hour" }, "2026-10-30T10:00", "", "hour", 3_600],
    [{ period: "12m" }, "2025-12-01T00:00", "", "month", 86_400],
    [{ from: "2026-11-27" }, "2026-11-27T00:00", "", "hour", 3_600],
    [{ from: "2026-10-01", to: "2026-10-31" }, "2026-10-01T00:00", "2026-11-01T00:00", "day", 86_400],
    [{ from: "2026-01-01", to: "2026-11-29" }, "2026-01-01T00:00", "", "month", 86_400],
    [{ to: "2026-10-31" }, "", "2026-11-01T00:00", "hour", 3_600],
  ])("is the time of %j, in steps that begin where hours, days and months do", (search, ...expected) => {
    expect(asked(search)).toEqual(expected);
  });

  test("is what the URL says, without what it cannot say", () => {
    expect(
      readUsageSearch({ from: "2026-02-31", to: "then", period: "1y", step: "week", by: "member", kind: 9 }),
    ).toEqual({
      kind: "9",
    });
    expect(readUsageSearch({ from: "2026-02-28", by: "type", show: "hours" })).toEqual({
      from: "2026-02-28",
      by: "type",
      show: "hours",
    });
  });
});

/** A series of days from the first of October on. */
function days(projectPath: string, amounts: readonly number[], kind = "cpu_cores"): UsageSeries {
  const start = Date.parse("2026-10-01T00:00:00Z");
  const points = amounts.map((amount, index) => ({
    startTime: timestampFromDate(new Date(start + index * dayMs)),
    endTime: timestampFromDate(new Date(start + (index + 1) * dayMs)),
    amount: String(amount),
    maximum: String(amount + 1),
    amountSeconds: String(amount * 86_400),
  }));
  return create(UsageSeriesSchema, { projectPath, kind, unit: "core", points });
}

describe("what is shown", () => {
  const inOctober = Array.from({ length: 31 }, () => 2);
  const series = [
    days("/orgs/acme/projects/a", [...inOctober, 8, 8]),
    days("/orgs/acme/projects/b", [...inOctober, 40, 40]),
    days("/orgs/acme/projects/a", [...inOctober, 1, 1], "memory"),
  ];

  test("of a month is the sum of its days, and what consumed most is first", () => {
    const { steps, lines, unit } = toShownUsage(series, "cpu_cores", "project", "month");
    expect(steps.map(({ start, end }) => [new Date(start).toISOString(), (end - start) / dayMs])).toEqual([
      ["2026-10-01T00:00:00.000Z", 31],
      ["2026-11-01T00:00:00.000Z", 2],
    ]);
    expect(unit).toBe("core");
    expect(lines).toEqual([
      {
        path: "/orgs/acme/projects/b",
        average: [2, 40],
        hours: [2 * 24 * 31, 40 * 24 * 2],
        averageOfAll: (2 * 31 + 40 * 2) / 33,
        hoursOfAll: 24 * (2 * 31 + 40 * 2),
        maximum: 41,
        last: 40,
      },
      expect.objectContaining({ path: "/orgs/acme/projects/a", average: [2, 8], last: 8 }),
    ]);
  });

  test("of many is that of the first, and the others as one", () => {
    const { lines } = toShownUsage([...series, days("/orgs/acme/projects/c", [1])], "cpu_cores", "project", "day");
    expect(
      toDrawnLines(lines, "average", 1).map(({ path, count, values }) => [path, count, values[0], values[32]]),
    ).toEqual([
      ["/orgs/acme/projects/b", 1, 2, 40],
      [undefined, 2, 3, 8],
    ]);
    expect(toDrawnLines(lines, "hours", 3).map(({ path }) => path)).not.toContain(undefined);
  });

  test.each([
    [[4, 16], "core", ["4", "16"], "core"],
    [[0, 0.5, 12.345], "core", ["0", "0.50", "12.35"], "core"],
    [[0.000329, 0.00001], "core", ["0.000329", "0.000010"], "core"],
    [[12_345.6, 0.4], "core", ["12,346", "0"], "core"],
    [[2 ** 30, 1.5 * 2 ** 30], "byte", ["1.00", "1.50"], "GiB"],
    [[0.25], "byte", ["0.250"], "byte"],
    [[0], "", ["0"], ""],
  ])("of %j %s is written alike", (amounts, unit, texts, shown) => {
    const scale = scaleOf(amounts, unit);
    expect([amounts.map(scale.write), scale.unit]).toEqual([texts, shown]);
  });

  test("has different names, also of what is deleted", () => {
    const paths = [
      "/services/a/resourceTypes/disks",
      "/services/b/resourceTypes/disks",
      "/services/@0198ab12-0000-7000-8000-0123456789ab",
    ];
    expect([...toDistinctNames(paths, () => "Disks").values()]).toEqual([
      "Disks (services/a/resourceTypes/disks)",
      "Disks (services/b/resourceTypes/disks)",
      "deleted, 456789ab",
    ]);
  });
});

describe("what is refused", () => {
  test("is at the field that the service names", () => {
    const error = invalidField("step", "must be at least 6221s here");
    expect(readUsageProblem(error, ["from_time", "step"])).toEqual({
      fields: { step: "must be at least 6221s here" },
      isAtField: true,
      oldestDay: undefined,
    });
    expect(readUsageProblem(error, ["from_time"]).isAtField).toBe(false);
  });

  test("as too old is at the beginning, with the oldest day that can be asked about", () => {
    const value = { metadata: { oldest_time: "2026-03-01T00:00:00Z" } };
    const error = new ConnectError("too old", Code.OutOfRange, undefined, [{ desc: ErrorInfoSchema, value }]);
    expect(readUsageProblem(error, ["from_time"])).toEqual({
      fields: { from_time: "too old" },
      isAtField: true,
      oldestDay: "2026-03-01",
    });
  });
});
