// Where a chart draws what: times and values become pixels.

/** From when to when, in milliseconds. */
export interface StackedStep {
  readonly start: number;
  readonly end: number;
}

export interface Plot {
  readonly width: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly start: number;
  readonly end: number;
  readonly xOf: (time: number) => number;
  readonly yOf: (value: number) => number;
  /** Where a step begins. */
  readonly leftOf: (index: number) => number;
  readonly rightOf: (index: number) => number;
  /** Returns the step at an x. */
  readonly stepAt: (x: number) => number;
}

interface PlotOptions {
  readonly width: number;
  readonly height: number;
  readonly steps: readonly StackedStep[];
  /** The value at the top. */
  readonly greatest: number;
  /** What is written beside the axis of values. */
  readonly labels: readonly string[];
}

/** In pixels. */
const digitWidth = 7.5;

export function createPlot({ width, height, steps, greatest, labels }: PlotOptions): Plot {
  const left = Math.ceil(Math.max(...labels.map(({ length }) => length)) * digitWidth) + 12;
  const [right, top, bottom] = [Math.max(width - 1, left + 1), 20, height - 22];
  const [start, end] = [steps[0]?.start ?? 0, steps.at(-1)?.end ?? 1];
  const xOf = (time: number): number => round(left + ((time - start) / Math.max(1, end - start)) * (right - left));
  const yOf = (value: number): number => round(bottom - (value / greatest) * (bottom - top));
  const leftOf = (index: number): number => xOf(steps[index]?.start ?? start);
  const rightOf = (index: number): number => xOf(steps[index]?.end ?? end);
  const stepAt = (x: number): number => {
    const found = steps.findIndex((_, index) => x < rightOf(index));
    return found < 0 ? steps.length - 1 : found;
  };
  return { width, left, right, top, bottom, start, end, xOf, yOf, leftOf, rightOf, stepAt };
}

const round = (pixels: number): number => Math.round(pixels * 10) / 10;

interface Level {
  readonly lower: readonly number[];
  readonly upper: readonly number[];
}

/** Puts values on top of each other, those of the first line at the bottom. */
export function stack(lines: readonly (readonly number[])[]): Level[] {
  let below: readonly number[] = (lines[0] ?? []).map(() => 0);
  return lines.map((values) => {
    const lower = below;
    below = values.map((value, index) => value + (lower[index] ?? 0));
    return { lower, upper: below };
  });
}

export function toAreaPath(plot: Plot, { lower, upper }: Level): string {
  const back = lower.map((value, index) => `H${plot.rightOf(index)}V${plot.yOf(value)}`).toReversed();
  return `${toLinePath(plot, { lower, upper })}${back.join("")}H${plot.left}Z`;
}

/** The upper edge. */
export function toLinePath(plot: Plot, { upper }: Level): string {
  const edges = upper.map((value, index) => `V${plot.yOf(value)}H${plot.rightOf(index)}`);
  return `M${plot.left} ${plot.yOf(upper[0] ?? 0)}${edges.join("")}`;
}
