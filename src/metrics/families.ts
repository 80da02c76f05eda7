// What is scraped: each metric with its name, its help, and where its values are read. `docs/operating.md` lists them.
import type { SnapshotActivity } from "../access/snapshots/current-snapshots.ts";
import type { DatabaseActivity } from "../database/database.ts";
import type { PoolActivity } from "../database/pool-activity.ts";
import type { DatabaseReach } from "../database/reach.ts";
import type { DeliveryCounts } from "../events/deliveries/counts.ts";
import type { SignalCounts } from "../events/signals/counts.ts";
import type { OpenExchanges } from "../http/listener/listener.ts";
import type { DiskSpace } from "../measures/disk-space.ts";
import type { ProcessFailures } from "../measures/process-failures.ts";
import type { Histogram } from "../measures/histogram.ts";
import type { QueueActivity } from "../scheduling/fair-queue.ts";
import type { RunningJob } from "../timers/runs.ts";
import type { ExchangeCounts, ExchangeSeries } from "./exchange-counts.ts";
import { type Family, type Labels, counter, gauge, histogram, summary, unlabelled } from "./family.ts";

/** The parts of a server that are measured. */
export interface MeasuredParts {
  readonly version: string;
  readonly exchanges: Pick<ExchangeCounts, "calls" | "requests">;
  readonly openExchanges: () => OpenExchanges;
  readonly database: DatabaseActivity;
  readonly snapshots: SnapshotActivity;
  /** By what waits in them. */
  readonly queues: Readonly<Record<string, QueueActivity>>;
  readonly timeSlices: Pick<QueueActivity, "waiting" | "waits">;
  /** How many streams of changes are open. */
  readonly watchers: () => number;
  readonly groupSizes: Histogram;
  readonly jobs: readonly Pick<RunningJob, "name" | "runs">[];
  readonly deliveries: DeliveryCounts;
  readonly heldLog: { readonly webhooks: number };
  /** How many uses for access were lost. */
  readonly lostUses: () => number;
  readonly signals: SignalCounts;
  readonly failures: Readonly<ProcessFailures>;
  /** Of the disk with the data directory; undefined if it is not known. */
  readonly diskSpace: () => DiskSpace | undefined;
  /** Undefined for a server that answers nothing while its database is away. */
  readonly reach: Pick<DatabaseReach, "answersAway" | "awayMs"> | undefined;
}

export function familiesOf(parts: MeasuredParts): readonly Family[] {
  const { version } = parts;
  return [
    gauge("tenantry_build_info", "The version of the server, as a label; the value is 1.", () => [[{ version }, 1]]),
    counter(
      "tenantry_unhandled_rejections_total",
      "Failures that no code of the server waits for. Each is a defect, and in its log.",
      () => [[unlabelled, parts.failures.rejections]],
    ),
    ...familiesOfExchanges(parts),
    ...familiesOfDatabase(parts.database),
    ...familiesOfReach(parts.reach),
    ...familiesOfDisk(parts.diskSpace),
    ...familiesOfSnapshots(parts.snapshots),
    counter(
      "tenantry_access_uses_lost_total",
      "Uses for access that found no room. Their orgs see no findings by use for some time.",
      () => [[unlabelled, parts.lostUses()]],
    ),
    ...familiesOfQueues(parts),
    gauge("tenantry_watchers", "Open streams of changes.", () => [[unlabelled, parts.watchers()]]),
    ...familiesOfJobs(parts.jobs),
    ...familiesOfDeliveries(parts.deliveries),
    gauge(
      "tenantry_webhooks_holding_log",
      "Webhooks for which the log is kept beyond its time, at the last look.",
      () => [[unlabelled, parts.heldLog.webhooks]],
    ),
    ...familiesOfSignals(parts.signals),
  ];
}

function familiesOfExchanges({ exchanges, openExchanges }: MeasuredParts): readonly Family[] {
  const { calls, requests } = exchanges;
  const secondsOf = (series: readonly ExchangeSeries[]): [Labels, Histogram][] =>
    series.map(({ labels, seconds }) => [labels, seconds]);
  const codesOf = (series: readonly ExchangeSeries[], label: string): [Labels, number][] =>
    series.flatMap(({ labels, codes }) =>
      Array.from(codes, ([code, count]): [Labels, number] => [{ ...labels, [label]: code }, count]),
    );
  const openBy = (what: "connections" | "requests"): [Labels, number][] =>
    Object.entries(openExchanges()).map(([protocol, open]) => [{ protocol }, open[what]]);
  return [
    histogram(
      "rpc_server_call_duration_seconds",
      "How long calls took, from the head of the request to the end of the response.",
      () => secondsOf(calls()),
    ),
    counter("tenantry_calls_total", "Calls that have ended, by the code with which they did.", () =>
      codesOf(calls(), "rpc_response_status_code"),
    ),
    histogram(
      "http_server_request_duration_seconds",
      "How long requests took that are no calls: pages, probes, sign-ins and OAuth.",
      () => secondsOf(requests()),
    ),
    counter(
      "tenantry_http_requests_total",
      "Requests that are no calls and have ended, by the status of the response.",
      () => codesOf(requests(), "http_response_status_code"),
    ),
    gauge("tenantry_client_connections", "Open connections of clients.", () => openBy("connections")),
    gauge("tenantry_client_requests", "Requests and streams whose responses have not ended.", () => openBy("requests")),
  ];
}

function familiesOfDatabase({ pools, statements }: DatabaseActivity): readonly Family[] {
  const each = <Value>(read: (pool: PoolActivity) => Value): [Labels, Value][] =>
    pools.map((pool) => [{ pool: pool.name }, read(pool)]);
  return [
    gauge("tenantry_database_connections", "Open connections to the database.", () =>
      pools.flatMap(({ name: pool, open, idle }): [Labels, number][] => [
        [{ pool, state: "busy" }, open() - idle()],
        [{ pool, state: "idle" }, idle()],
      ]),
    ),
    gauge("tenantry_database_connections_limit", "The most connections that a pool opens.", () =>
      each(({ limit }) => limit),
    ),
    gauge("tenantry_database_waiting", "Statements and transactions that wait for a connection.", () =>
      each(({ waiting }) => waiting()),
    ),
    histogram(
      "tenantry_database_wait_seconds",
      "How long statements and transactions waited for a connection if none was idle.",
      () => each(({ waits }) => waits),
    ),
    summary(
      "tenantry_database_statement_seconds",
      "How long statements took, from when they were sent until they were answered.",
      () =>
        Array.from(statements.entries(), ([statement, { count, totalMs }]) => [
          { statement },
          { count, sum: totalMs / 1_000 },
        ]),
    ),
    counter("tenantry_database_disk_full_total", "Statements that found the disk of the database full.", () => [
      [unlabelled, statements.foundDiskFull()],
    ]),
  ];
}

function familiesOfDisk(diskSpace: MeasuredParts["diskSpace"]): readonly Family[] {
  const read = (field: keyof DiskSpace) => (): [Labels, number][] => {
    const space = diskSpace();
    return space === undefined ? [] : [[unlabelled, space[field]]];
  };
  return [
    gauge("tenantry_data_disk_free_bytes", "The room on the disk of the data directory.", read("free")),
    gauge("tenantry_data_disk_size_bytes", "The size of the disk of the data directory.", read("size")),
  ];
}

function familiesOfReach(reach: MeasuredParts["reach"]): readonly Family[] {
  return [
    gauge(
      "tenantry_database_away_seconds",
      "For how long the database has answered nothing, if it is away; 0 on servers that answer no checks meanwhile.",
      () => [[unlabelled, (reach?.awayMs() ?? 0) / 1_000]],
    ),
    counter("tenantry_stale_calls_total", "Calls with checks that were answered while the database was away.", () => [
      [unlabelled, reach?.answersAway() ?? 0],
    ]),
  ];
}

function familiesOfSnapshots(activity: SnapshotActivity): readonly Family[] {
  const { count, bytes, maxBytes, uses } = activity;
  return [
    gauge("tenantry_access_snapshots", "Orgs whose access is in memory.", () => [[unlabelled, count()]]),
    gauge("tenantry_access_snapshot_bytes", "The memory of their access snapshots.", () => [[unlabelled, bytes()]]),
    gauge("tenantry_access_snapshot_limit_bytes", "The most memory that snapshots take.", () => [
      [unlabelled, maxBytes],
    ]),
    counter(
      "tenantry_access_snapshot_uses_total",
      "Calls that found their snapshot current, and reads that advanced one, loaded it from a file or read its org.",
      () => Object.entries(uses).map(([outcome, times]) => [{ outcome }, times]),
    ),
    counter("tenantry_access_snapshot_evictions_total", "Snapshots that made room for others.", () => [
      [unlabelled, activity.evictions],
    ]),
  ];
}

function familiesOfQueues({ queues, timeSlices, groupSizes }: MeasuredParts): readonly Family[] {
  const inAll = Object.entries<Pick<QueueActivity, "waiting" | "waits">>({ ...queues, slices: timeSlices });
  return [
    gauge("tenantry_queue_running", "What runs at once of what queues for it.", () =>
      Object.entries(queues).map(([queue, { running }]) => [{ queue }, running()]),
    ),
    gauge("tenantry_queue_waiting", "Calls that wait in a queue.", () =>
      inAll.map(([queue, { waiting }]) => [{ queue }, waiting()]),
    ),
    histogram("tenantry_queue_wait_seconds", "How long calls waited that had to.", () =>
      inAll.map(([queue, { waits }]) => [{ queue }, waits]),
    ),
    histogram("tenantry_write_group_size", "Writes of an org that shared a transaction.", () => [
      [unlabelled, groupSizes],
    ]),
  ];
}

function familiesOfJobs(jobs: MeasuredParts["jobs"]): readonly Family[] {
  // Prometheus has a label `job` of its own, which says what it scrapes: it renames one that it finds.
  const labelsOf = (name: string): Labels => ({ job_name: name });
  return [
    summary("tenantry_job_run_seconds", "How long runs of jobs took.", () =>
      jobs.map(({ name, runs: { ended, totalMs } }) => [labelsOf(name), { count: ended, sum: totalMs / 1_000 }]),
    ),
    counter("tenantry_job_failures_total", "What failed in runs of jobs; it is tried again.", () =>
      jobs.map(({ name, runs: { failures } }) => [labelsOf(name), failures]),
    ),
    gauge(
      "tenantry_job_last_success_timestamp_seconds",
      "When the last run of a job ended in which nothing failed.",
      () =>
        jobs.flatMap(({ name, runs: { succeededAt } }): [Labels, number][] =>
          succeededAt === undefined ? [] : [[labelsOf(name), succeededAt / 1_000]],
        ),
    ),
  ];
}

function familiesOfSignals(counts: SignalCounts): readonly Family[] {
  return [
    counter(
      "tenantry_signals_total",
      "Security events of event streams, by what came of them, and event streams disabled.",
      () => Object.entries(counts.outcomes).map(([outcome, count]) => [{ outcome }, count]),
    ),
    histogram("tenantry_signal_push_seconds", "How long receivers took to accept or refuse an event.", () => [
      [unlabelled, counts.durations],
    ]),
    gauge("tenantry_event_streams_pushing", "Event streams of which the server pushes events.", () => [
      [unlabelled, counts.running],
    ]),
  ];
}

function familiesOfDeliveries(counts: DeliveryCounts): readonly Family[] {
  return [
    counter(
      "tenantry_webhook_deliveries_total",
      "Requests of webhooks, by what came of them, and webhooks disabled.",
      () => Object.entries(counts.outcomes).map(([outcome, count]) => [{ outcome }, count]),
    ),
    histogram("tenantry_webhook_delivery_seconds", "How long receivers of webhooks took for their answers.", () => [
      [unlabelled, counts.durations],
    ]),
    gauge("tenantry_webhooks_delivering", "Webhooks of which the server delivers.", () => [
      [unlabelled, counts.running],
    ]),
  ];
}
