// The time that is asked about, in steps that begin where hours, days and months begin in UTC: so everybody in an org sees the same ones, and
// the service has sums of them.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { QueryUsageRequestSchema } from "../../../../gen/iam/v1alpha/usage_pb.ts";
import type { UsagePeriod, UsageSearch, UsageStep } from "../../app/usage-search.ts";

export interface AskedPeriod {
  /** `days` for one from a day to a day. */
  readonly choice: UsagePeriod | "days";
  readonly step: UsageStep;
  /** The steps that can be chosen. */
  readonly steps: readonly UsageStep[];
  /** The first day, such as `2026-03-01`; empty if it is left to the service. */
  readonly firstDay: string;
  readonly fields: Pick<MessageInitShape<typeof QueryUsageRequestSchema>, "fromTime" | "toTime" | "step">;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The steps of each period, the usual one first. */
const stepsOf: Readonly<Record<AskedPeriod["choice"], readonly UsageStep[]>> = {
  "24h": ["hour"],
  "7d": ["hour", "day"],
  "30d": ["day", "hour"],
  "12m": ["month", "day"],
  days: ["hour", "day", "month"],
};

/** Months are added up from days: a step of the service has the same length everywhere. */
const secondsOf: Readonly<Record<UsageStep, bigint>> = { hour: 3_600n, day: 86_400n, month: 86_400n };

/** How many days a period has so that hours or days are usual for it. */
const usualDays = { hour: 3, day: 92 };

/** @param now in milliseconds. Where it is in its hour makes no difference. */
export function readPeriod({ period = "7d", from, to, step: wanted }: UsageSearch, now: number): AskedPeriod {
  const choice = from === undefined && to === undefined ? period : "days";
  const steps = stepsOf[choice];
  const usual = choice === "days" ? usualStep(from, to, now) : (steps[0] ?? "day");
  const step = steps.find((each) => each === wanted) ?? usual;
  const start = choice === "days" ? startOf(from) : startOfLast(choice, step, now);
  // What ends today ends now: its end is in the future.
  const end = to === undefined || to === dayOf(now) ? undefined : startOf(to) + dayMs;
  return {
    choice,
    step,
    steps,
    firstDay: Number.isNaN(start) ? "" : dayOf(start),
    fields: {
      step: { seconds: secondsOf[step] },
      ...(Number.isNaN(start) ? {} : { fromTime: timestampFromDate(new Date(start)) }),
      ...(choice === "days" && end !== undefined && { toTime: timestampFromDate(new Date(end)) }),
    },
  };
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** NaN without a day. */
const startOf = (day: string | undefined): number => Date.parse(`${day ?? ""}T00:00:00Z`);

function usualStep(from: string | undefined, to: string | undefined, now: number): UsageStep {
  const end = to === undefined ? now : startOf(to) + dayMs;
  const days = from === undefined ? 1 : (end - startOf(from)) / dayMs;
  return days <= usualDays.hour ? "hour" : days <= usualDays.day ? "day" : "month";
}

/** Returns when a period begins whose last step has now in it. */
function startOfLast(period: UsagePeriod, step: UsageStep, now: number): number {
  if (period === "12m") {
    const date = new Date(now);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 11);
  }
  const days = { "24h": 1, "7d": 7, "30d": 30 }[period];
  const stepMs = step === "hour" ? hourMs : dayMs;
  return (Math.floor(now / stepMs) + 1) * stepMs - days * dayMs;
}
