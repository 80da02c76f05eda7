// What the service says that was consumed, as lines of a chart and rows of tables.
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { UsagePoint, UsageSeries } from "../../../../gen/iam/v1alpha/usage_pb.ts";
import type { UsageGroup, UsageMeasure, UsageStep } from "../../app/usage-search.ts";

/** From when to when, in milliseconds. */
export interface ShownStep {
  readonly start: number;
  readonly end: number;
}

/** What one group consumed of a kind. Hours are amounts times hours. */
export interface UsageLine extends Readonly<Record<UsageMeasure, readonly number[]>> {
  /** The project, service, ...; empty if amounts are not divided. */
  readonly path: string;
  readonly averageOfAll: number;
  readonly hoursOfAll: number;
  readonly maximum: number;
  /** At the end of the last step. */
  readonly last: number;
}

export interface ShownUsage {
  readonly steps: readonly ShownStep[];
  /** What consumed most is first. */
  readonly lines: readonly UsageLine[];
  /** The unit of the kind in the catalog, such as `core`; empty if it has none. */
  readonly unit: string;
}

const pathOf: Readonly<Record<UsageGroup, (series: UsageSeries) => string>> = {
  org: ({ orgPath }) => orgPath,
  project: ({ projectPath }) => projectPath,
  service: ({ servicePath }) => servicePath,
  type: ({ typePath }) => typePath,
};

const hourMs = 3_600_000;

export function toShownUsage(
  series: readonly UsageSeries[],
  kind: string,
  by: UsageGroup | undefined,
  step: UsageStep,
): ShownUsage {
  const ofKind = series.filter((each) => each.kind === kind);
  const steps = stepsOf(ofKind[0]?.points ?? [], step);
  const lines = ofKind.map((each) => toLine(by === undefined ? "" : pathOf[by](each), each.points, steps));
  return {
    steps,
    lines: lines.toSorted((one, other) => other.hoursOfAll - one.hoursOfAll),
    unit: ofKind[0]?.unit ?? "",
  };
}

/** Returns the steps, with the days of each month as one. */
function stepsOf(points: readonly UsagePoint[], step: UsageStep): ShownStep[] {
  const steps: ShownStep[] = [];
  for (const { startTime, endTime } of points) {
    const [start, end, last] = [timeOf(startTime), timeOf(endTime), steps.at(-1)];
    if (step === "month" && last !== undefined && monthOf(last.start) === monthOf(start)) {
      steps[steps.length - 1] = { start: last.start, end };
    } else steps.push({ start, end });
  }
  return steps;
}

const timeOf = (time: Timestamp | undefined): number => (time === undefined ? 0 : timestampMs(time));

const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);

function toLine(path: string, points: readonly UsagePoint[], steps: readonly ShownStep[]): UsageLine {
  const hours = steps.map(() => 0);
  let index = 0;
  for (const { endTime, amountSeconds } of points) {
    while (timeOf(endTime) > (steps[index]?.end ?? Infinity)) index += 1;
    hours[index] = (hours[index] ?? 0) + Number(amountSeconds);
  }
  const all = hours.reduce((sum, each) => sum + each, 0);
  const allMs = (steps.at(-1)?.end ?? 0) - (steps[0]?.start ?? 0);
  return {
    path,
    average: hours.map((sum, at) => (sum * 1_000) / lengthOf(steps[at])),
    hours: hours.map((sum) => (sum * 1_000) / hourMs),
    averageOfAll: (all * 1_000) / Math.max(1, allMs),
    hoursOfAll: (all * 1_000) / hourMs,
    maximum: Math.max(...points.map(({ maximum }) => Number(maximum))),
    last: Number(points.at(-1)?.amount ?? 0),
  };
}

/** In milliseconds. The service has microseconds, so a step can be shorter than one. */
const lengthOf = (step: ShownStep | undefined): number => (step === undefined ? 1 : Math.max(1, step.end - step.start));

/** What is drawn: the lines that consumed most, and the others as one. */
export interface DrawnLine {
  /** Undefined for the others. */
  readonly path: string | undefined;
  /** How many lines it stands for. */
  readonly count: number;
  readonly values: readonly number[];
}

export function toDrawnLines(lines: readonly UsageLine[], measure: UsageMeasure, most: number): DrawnLine[] {
  const drawn = lines.slice(0, most).map((line): DrawnLine => ({ path: line.path, count: 1, values: line[measure] }));
  const rest = lines.slice(most);
  const [first] = rest;
  if (first === undefined) return drawn;
  const values = first[measure].map((_, index) => rest.reduce((sum, line) => sum + (line[measure][index] ?? 0), 0));
  return [...drawn, { path: undefined, count: rest.length, values }];
}
