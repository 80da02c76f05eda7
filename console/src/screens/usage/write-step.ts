// How the times of steps are written, in UTC.
import type { UsageStep } from "../../app/usage-search.ts";
import type { ShownStep } from "./usage-lines.ts";

const writer = (options: Intl.DateTimeFormatOptions): ((time: number) => string) => {
  const format = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
  return (time) => format.format(time);
};

const day = writer({ day: "numeric", month: "short", year: "numeric" });
const time = writer({ hour: "2-digit", minute: "2-digit" });
const hour = writer({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const month = writer({ month: "long", year: "numeric" });

/** Writes a moment with its day. */
export const writeMoment = (at: number): string => `${day(at)}, ${time(at)}`;

const writers: Readonly<Record<UsageStep, (step: ShownStep) => string>> = {
  hour: ({ start, end }) => `${writeMoment(start)} – ${time(end)}`,
  day: ({ start }) => day(start),
  month: ({ start }) => month(start),
};

/** Writes from when to when a step is. */
export const writeStep = (kind: UsageStep, step: ShownStep): string => writers[kind](step);

/** Writes which step it is where others are below it: there are hours of some weeks at most, so their year is known. */
export const writeStart = (kind: UsageStep, step: ShownStep): string =>
  kind === "hour" ? hour(step.start) : writeStep(kind, step);
