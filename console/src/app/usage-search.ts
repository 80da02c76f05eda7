// What the URL of a screen about usage holds.
import { textOf } from "./list-search.ts";

export const usagePeriods = ["24h", "7d", "30d", "12m"] as const;

/** The time up to now that is shown. */
export type UsagePeriod = (typeof usagePeriods)[number];

export const usageSteps = ["hour", "day", "month"] as const;

export type UsageStep = (typeof usageSteps)[number];

const usageGroups = ["org", "project", "service", "type"] as const;

/** By what amounts are divided. */
export type UsageGroup = (typeof usageGroups)[number];

export const usageMeasures = ["average", "hours"] as const;

/** What is shown of each step: the amount on average, or its integral. */
export type UsageMeasure = (typeof usageMeasures)[number];

export interface UsageSearch {
  readonly period?: UsagePeriod | undefined;
  /** The first day that is shown, in UTC, such as `2026-03-01`, in the place of a period. */
  readonly from?: string | undefined;
  /** The last day. */
  readonly to?: string | undefined;
  readonly step?: UsageStep | undefined;
  /** The kind of Quantities that is shown, such as `cpu_cores`. */
  readonly kind?: string | undefined;
  readonly by?: UsageGroup | undefined;
  readonly show?: UsageMeasure | undefined;
}

export function readUsageSearch(search: Record<string, unknown>): UsageSearch {
  const oneOf = <Name extends string>(names: readonly Name[], key: string): Name | undefined =>
    names.find((name) => name === search[key]);
  return {
    period: oneOf(usagePeriods, "period"),
    from: dayIn(search["from"]),
    to: dayIn(search["to"]),
    step: oneOf(usageSteps, "step"),
    kind: textOf(search["kind"]),
    by: oneOf(usageGroups, "by"),
    show: oneOf(usageMeasures, "show"),
  };
}

/** Returns a day that exists, such as `2026-03-01`. */
function dayIn(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\d$/.test(value)) return undefined;
  const time = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value) ? value : undefined;
}
