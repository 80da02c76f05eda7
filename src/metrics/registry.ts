// How the client library for Prometheus is used, which only this file knows: it writes the text, and it measures the process. What is
// counted here is handed to it when it writes: its own counters hash their labels each time, which takes 1 µs.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Metric, type MetricValueWithName, Registry, collectDefaultMetrics } from "@prometheus-io/client";
import type { Histogram } from "../measures/histogram.ts";
import type { Family, Labels } from "./family.ts";

export interface MetricsWriter {
  readonly contentType: string;
  /** Returns all metrics as text, in the exposition format of Prometheus. Others may run between two metrics. */
  readonly write: () => Promise<string>;
}

/** A line of a metric. The library writes labels that are shared once, and keeps their text. */
interface Sample extends Omit<MetricValueWithName<string>, "labels"> {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels?: Labels;
}

/** At intervals of so many milliseconds, the delay of the event loop is measured. */
const eventLoopMonitoringPrecision = 20;

/** Never: the use of the event loop is left out. */
const eventLoopUtilizationTimeout = 2 ** 31 - 1;

/** What `promtool check metrics` does not accept, for a name that says another type. */
const leftOut = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
  "nodejs_eventloop_utilization_histogram",
  "nodejs_eventloop_utilization_summary",
];

/** What is measured of the process is measured until it ends. */
export function createMetricsWriter(families: readonly Family[]): MetricsWriter {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision, eventLoopUtilizationTimeout });
  for (const name of leftOut) registry.removeSingleMetric(name);
  for (const family of families) registry.registerMetric(toMetric(family));
  return {
    contentType: registry.contentType,
    async write() {
      let text = "";
      for (const { name } of registry.getMetricsAsArray()) {
        text += `${await registry.getMetricsAsString(registry.getSingleMetric(name) as Metric)}\n`;
        await nextTurn();
      }
      return text;
    },
  };
}

/** Returns a metric as the library reads them. Its types allow for its own classes only, to which no histogram can be given. */
function toMetric(family: Family): Metric {
  const { name, help, type } = family;
  const get = () => Promise.resolve({ name, help, type, aggregator: "sum", values: samplesOf(family) });
  return { name, help, type, get } as unknown as Metric;
}

function samplesOf(family: Family): Sample[] {
  switch (family.type) {
    case "counter":
    case "gauge":
      return Array.from(family.read(), ([labels, value]) => ({ labels, value }));
    case "summary":
      return Array.from(family.read()).flatMap(([labels, { count, sum }]) => totals(family.name, labels, count, sum));
    case "histogram":
      return Array.from(family.read()).flatMap(([labels, histogram]) => bucketsOf(family.name, labels, histogram));
  }
}

function totals(name: string, sharedLabels: Labels, count: number, sum: number): Sample[] {
  return [
    { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum },
    { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
  ];
}

/** Each bucket of Prometheus contains those before it. */
function bucketsOf(name: string, sharedLabels: Labels, { bounds, counts, sum }: Histogram): Sample[] {
  let count = 0;
  const buckets = counts.map((ofBucket, index): Sample => {
    count += ofBucket;
    return { metricName: `${name}_bucket`, labels: { le: bounds[index] ?? "+Inf" }, sharedLabels, value: count };
  });
  return [...buckets, ...totals(name, sharedLabels, count, sum)];
}
