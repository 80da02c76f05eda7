// What the screens about usage say. They load it; the first page does not.
import { sentence } from "./sentence.ts";
import type { UsageGroup, UsageMeasure, UsagePeriod, UsageStep } from "../app/usage-search.ts";

const periods: Readonly<Record<UsagePeriod | "days", string>> = {
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "12m": "Last 12 months",
  days: "From day to day",
};

const groups: Readonly<Record<UsageGroup, string>> = {
  org: "Organisation",
  project: "Project",
  service: "Service",
  type: "Type",
};

const steps: Readonly<Record<UsageStep, string>> = { hour: "Hour", day: "Day", month: "Month" };

export const usageTexts = {
  titleOf: (name: string) => `Usage of ${name}`,
  intro:
    "What resources have consumed over time: each from when it was created until it is gone, also while it is suspended. Hours, days and months are those of UTC.",
  question: "What is shown",
  period: "Time",
  periods,
  firstDay: "First day",
  lastDay: "Last day",
  lastDayHint: "Empty: until now.",
  show: "Show",
  step: "In steps of",
  steps,
  kind: "Quantity",
  noKind: "–",
  by: "Divided by",
  undivided: "Nothing",
  groups,
  measure: "Shown as",
  average: "Average",
  hours: (unit: string) => (unit === "" ? "Hours" : sentence(`${unit}-hours`)),
  withUnit: (title: string, unit: string) => (unit === "" ? title : `${title} (${unit})`),
  chart: (kind: string, by: string | undefined) => (by === undefined ? kind : `${kind} by ${by.toLowerCase()}`),
  describes: (measure: UsageMeasure, unit: string, step: UsageStep, from: string, to: string) =>
    `${usageTexts.byStep(measure, unit, step)}, from ${from} to ${to} UTC, on top of each other. The table below has the same numbers.`,
  moment: "Moment in the chart",
  total: "Total",
  inAll: "In all of this time",
  byStep: (measure: UsageMeasure, unit: string, step: UsageStep) =>
    measure === "hours" ? `${unit} in each ${step}` : usageTexts.withUnit(`Average in each ${step}`, unit),
  all: "All",
  undividedHead: "Consumer",
  others: (count: number) => `${count} others`,
  deleted: (id: string) => `deleted, ${id}`,
  maximum: "Most",
  last: "At the end",
  none: "Nothing was consumed in this time.",
  noneOfKind: (kind: string) => `No ${kind} in this time.`,
  noneHint: "Create a resource in a project: it is here once its provider has created it.",
  noneHintOfCustomer: "What the projects of its organisations consume appears here.",
  fromOldest: "From the oldest day on",
};
