// The time that a request asks about, in steps. Times are in microseconds, which revisions have.
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { readMicroseconds } from "../../changes/past/asked-moment.ts";
import { invalidField } from "../../errors/service-error.ts";

export interface Period {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  /** How many steps there are. The last one ends at `end`, and may be shorter. */
  readonly steps: number;
}

/** What a request says of it. Undefined is what it leaves open. */
export interface AskedPeriod {
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly step: number | undefined;
}

interface PeriodFields {
  readonly fromTime?: Timestamp | undefined;
  readonly toTime?: Timestamp | undefined;
  readonly step?: Duration | undefined;
}

const maxSteps = 1_000;

/** How long before its end a period begins of which only the end is known. */
const dayMicroseconds = 86_400e6;

/** The rule that errors name. */
const rule = "usage.period";

/** @throws ServiceError FIELD_INVALID */
export function readPeriod({ fromTime, toTime, step }: PeriodFields): AskedPeriod {
  const start = fromTime && readMicroseconds("from_time", fromTime, rule);
  const end = toTime && readMicroseconds("to_time", toTime, rule);
  // Numbers do not have all microseconds of times that are further away.
  if (start !== undefined && start < 0) throw invalidField("from_time", "must be in 1970 or later", rule);
  if (step !== undefined && step.nanos !== 0) {
    throw invalidField("step", "must be a number of whole seconds, such as 3600s", rule);
  }
  return { start, end, step: step && Number(step.seconds) * 1e6 };
}

/**
 * Returns the period that a request asks about.
 *
 * @param now the time until which everything is known.
 * @throws ServiceError FIELD_INVALID
 */
export function periodUntil(now: number, asked: AskedPeriod): Period {
  const { end = now, start = Math.max(0, end - dayMicroseconds), step = end - start } = asked;
  if (end > now) throw invalidField("to_time", "must not be in the future; leave it out for now", rule);
  if (start >= end) {
    const description =
      asked.start === undefined
        ? "must be after 1970-01-01T00:00:00Z"
        : "must be after from_time, which is not in the future";
    throw invalidField("to_time", description, rule);
  }
  const steps = Math.ceil((end - start) / step);
  if (steps > maxSteps) {
    const least = Math.ceil((end - start) / maxSteps / 1e6);
    throw invalidField("step", `must be at least ${least}s here, so that there are at most ${maxSteps} steps`, rule);
  }
  return { start, end, step: Math.min(step, end - start), steps };
}

/** Returns when a step begins; that after the last one is the end. */
export function timeOfStep({ start, end, step }: Period, index: number): number {
  return Math.min(end, start + index * step);
}
