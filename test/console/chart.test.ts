// Where charts have their ticks and what they draw.
import { describe, expect, test } from "vitest";
import { createPlot, stack, toAreaPath, toLinePath } from "../../console/src/ui/chart/plot.ts";
import { timeTicks, valueTicks } from "../../console/src/ui/chart/ticks.ts";

describe("ticks", () => {
  test.each([
    [0, [0, 1]],
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [4, [0, 1, 2, 3, 4]],
    [22.5, [0, 5, 10, 15, 20, 25]],
    [57.5, [0, 20, 40, 60]],
    [0.0114, [0, 0.005, 0.01, 0.015]],
    [1e-12, [0, 2e-13, 4e-13, 6e-13, 8e-13, 1e-12]],
  ])("up to %d are multiples of 1, 2 or 5", (greatest, ticks) => {
    expect(valueTicks(greatest, 5).map((tick) => Number(tick.toPrecision(6)))).toEqual(ticks);
  });

  test.each([
    ["2026-11-28T22:30", "2026-11-29T02:10", 4, ["23:00", "29 Nov", "01:00", "02:00"]],
    ["2026-11-22T10:00", "2026-11-29T10:00", 7, ["23 Nov", "24 Nov", "25 Nov", "26 Nov", "27 Nov", "28 Nov", "29 Nov"]],
    // Mondays.
    ["2026-10-31T00:00", "2026-11-29T00:00", 5, ["2 Nov", "9 Nov", "16 Nov", "23 Nov"]],
    ["2025-11-01T00:00", "2026-02-20T00:00", 4, ["Nov", "Dec", "2026", "Feb"]],
    ["2025-12-01T00:00", "2026-11-29T00:00", 4, ["2026", "Apr", "Jul", "Oct"]],
    ["2020-02-01T00:00", "2026-11-29T00:00", 4, ["2022", "2024", "2026"]],
  ])("from %s to %s, at most %d, are where hours, days, weeks, months or years begin", (from, to, most, labels) => {
    const ticks = timeTicks(Date.parse(`${from}Z`), Date.parse(`${to}Z`), most);
    expect(ticks.map(({ label }) => label)).toEqual(labels);
  });
});

describe("a chart", () => {
  const steps = [
    { start: 0, end: 10 },
    { start: 10, end: 15 },
  ];
  const plot = createPlot({ width: 121, height: 122, steps, greatest: 8, labels: ["0", "8"] });

  test("draws each step as long as it is, and lines on top of each other", () => {
    const [lower, upper] = stack([
      [2, 4],
      [2, 4],
    ]);
    expect([plot.left, plot.right, plot.top, plot.bottom]).toEqual([20, 120, 20, 100]);
    expect(lower && toLinePath(plot, lower)).toBe("M20 80V80H86.7V60H120");
    expect(lower && toAreaPath(plot, lower)).toBe("M20 80V80H86.7V60H120H120V100H86.7V100H20Z");
    expect(upper && toAreaPath(plot, upper)).toBe("M20 60V60H86.7V20H120H120V60H86.7V80H20Z");
  });

  test("knows the step at a place, and the nearest one beside it", () => {
    expect([0, 20, 86, 87, 120, 500].map(plot.stepAt)).toEqual([0, 0, 0, 1, 1, 1]);
  });
});
