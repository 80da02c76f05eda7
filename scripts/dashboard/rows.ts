// What the dashboard shows, from what a caller notices down to what the process needs. `SERVERS` stands for the servers that the reader
// has chosen, and `RATE` for the interval that suits the time shown.
import type { Panel, Row } from "./write-dashboard.ts";

const callCount = (labels = ""): string => `sum(rate(tenantry_calls_total{SERVERS${labels}}[RATE]))`;

const failed = 'rpc_response_status_code=~"UNAVAILABLE|INTERNAL|UNKNOWN|DATA_LOSS"';

/** Streams are open for as long as their clients like. */
const noStreams = 'rpc_method!~".*/(Watch.*|ServerReflectionInfo)"';

const quantile = (of: number, histogram: string, by = "", labels = ""): string =>
  `histogram_quantile(${of}, sum by (${by === "" ? "" : `${by}, `}le) (rate(${histogram}_bucket{SERVERS${labels}}[RATE])))`;

const per = (by: string, metric: string, labels = ""): string =>
  `sum by (${by}) (rate(${metric}{SERVERS${labels}}[RATE]))`;

const sumBy = (by: string, metric: string): string => `sum by (${by}) (${metric}{SERVERS})`;

const numbers: readonly Panel[] = [
  { title: "Servers", kind: "stat", queries: [["count(tenantry_build_info{SERVERS})", "servers"]] },
  {
    title: "Versions",
    kind: "stat",
    queries: [["count by (version) (tenantry_build_info{SERVERS})", "{{version}}"]],
    help: "More than one only while servers are being replaced.",
  },
  { title: "Calls", kind: "stat", unit: "reqps", queries: [[callCount(), "calls"]] },
  {
    title: "Failures of the service",
    kind: "stat",
    unit: "percentunit",
    queries: [[`(${callCount(`,${failed}`)} or vector(0)) / ${callCount()}`, "failures"]],
    help: "UNAVAILABLE, INTERNAL, UNKNOWN and DATA_LOSS, of all calls.",
  },
];

const calls: readonly Panel[] = [
  {
    title: "Calls by code",
    unit: "reqps",
    queries: [[per("rpc_response_status_code", "tenantry_calls_total"), "{{rpc_response_status_code}}"]],
  },
  {
    title: "Calls by protocol",
    unit: "reqps",
    queries: [[per("rpc_system_name", "tenantry_calls_total"), "{{rpc_system_name}}"]],
  },
  {
    title: "How long calls take",
    unit: "s",
    queries: [0.5, 0.95, 0.99].map((of) => [
      quantile(of, "rpc_server_call_duration_seconds", "", `,${noStreams}`),
      `${of * 100} %`,
    ]),
    help: "Without streams.",
  },
  {
    title: "Methods that take the time",
    unit: "s",
    queries: [
      [`topk(10, ${per("rpc_method", "rpc_server_call_duration_seconds_sum", `,${noStreams}`)})`, "{{rpc_method}}"],
    ],
    help: "Seconds of calls in each second.",
  },
  {
    title: "Slowest methods (99 %)",
    unit: "s",
    queries: [
      [
        `topk(10, ${quantile(0.99, "rpc_server_call_duration_seconds", "rpc_method", `,${noStreams}`)})`,
        "{{rpc_method}}",
      ],
    ],
  },
  {
    title: "Refused by limits and rates",
    unit: "reqps",
    queries: [
      [
        `topk(10, ${per("rpc_method", "tenantry_calls_total", ',rpc_response_status_code="RESOURCE_EXHAUSTED"')}) or vector(0)`,
        "{{rpc_method}}",
      ],
    ],
  },
  {
    title: "Other requests",
    unit: "reqps",
    queries: [
      [
        per("http_route, http_response_status_code", "tenantry_http_requests_total"),
        "{{http_route}} {{http_response_status_code}}",
      ],
    ],
  },
  {
    title: "Clients",
    queries: [
      [sumBy("protocol", "tenantry_client_connections"), "connections {{protocol}}"],
      [sumBy("protocol", "tenantry_client_requests"), "requests {{protocol}}"],
    ],
  },
];

const database: readonly Panel[] = [
  {
    title: "Connections in use",
    unit: "percentunit",
    queries: [
      [
        'sum by (instance, pool) (tenantry_database_connections{SERVERS,state="busy"}) / sum by (instance, pool) (tenantry_database_connections_limit{SERVERS})',
        "{{instance}} {{pool}}",
      ],
    ],
  },
  {
    title: "Waiting for a connection",
    queries: [[sumBy("instance, pool", "tenantry_database_waiting"), "{{instance}} {{pool}}"]],
  },
  {
    title: "Statements that take the time",
    unit: "s",
    queries: [[`topk(10, ${per("statement", "tenantry_database_statement_seconds_sum")})`, "{{statement}}"]],
    help: "Seconds of statements in each second. Those that are sent together wait for each other.",
  },
  {
    title: "Statements",
    unit: "reqps",
    queries: [[`topk(10, ${per("statement", "tenantry_database_statement_seconds_count")})`, "{{statement}}"]],
  },
  {
    title: "Room on the disk of the data directory",
    unit: "percentunit",
    queries: [["tenantry_data_disk_free_bytes{SERVERS} / tenantry_data_disk_size_bytes{SERVERS}", "{{instance}}"]],
    help: "An embedded database is there, too.",
  },
  {
    title: "Statements that find the disk full",
    unit: "reqps",
    queries: [[per("instance", "tenantry_database_disk_full_total"), "{{instance}}"]],
    help: "That of the database.",
  },
  {
    title: "Without the database",
    queries: [
      ["tenantry_database_away_seconds{SERVERS}", "{{instance}} seconds away"],
      [per("instance", "tenantry_stale_calls_total"), "{{instance}} checks a second"],
    ],
    help: "Only on servers that answer checks from memory meanwhile.",
  },
];

const within: readonly Panel[] = [
  { title: "Waiting in queues", queries: [[sumBy("queue", "tenantry_queue_waiting"), "{{queue}}"]] },
  { title: "Running from queues", queries: [[sumBy("queue", "tenantry_queue_running"), "{{queue}}"]] },
  {
    title: "Access snapshots",
    unit: "percentunit",
    queries: [
      ["tenantry_access_snapshot_bytes{SERVERS} / tenantry_access_snapshot_limit_bytes{SERVERS}", "{{instance}}"],
    ],
    help: "Their memory, of the most that they may take.",
  },
  {
    title: "Uses of access snapshots",
    unit: "reqps",
    queries: [
      [per("outcome", "tenantry_access_snapshot_uses_total"), "{{outcome}}"],
      [`sum(rate(tenantry_access_snapshot_evictions_total{SERVERS}[RATE]))`, "evicted"],
    ],
  },
  {
    title: "Jobs",
    unit: "s",
    queries: [[per("job_name", "tenantry_job_run_seconds_sum"), "{{job_name}}"]],
    help: "Seconds of runs in each second.",
  },
  {
    title: "Failures of jobs",
    unit: "reqps",
    queries: [[per("job_name", "tenantry_job_failures_total"), "{{job_name}}"]],
  },
  {
    title: "Since jobs last succeeded",
    unit: "s",
    queries: [["time() - max by (job_name) (tenantry_job_last_success_timestamp_seconds{SERVERS})", "{{job_name}}"]],
  },
  {
    title: "Writes of an org in a transaction",
    queries: [
      [
        "sum(rate(tenantry_write_group_size_sum{SERVERS}[RATE])) / sum(rate(tenantry_write_group_size_count{SERVERS}[RATE]))",
        "writes",
      ],
    ],
  },
];

const events: readonly Panel[] = [
  {
    title: "Requests of webhooks",
    unit: "reqps",
    queries: [[per("outcome", "tenantry_webhook_deliveries_total"), "{{outcome}}"]],
  },
  {
    title: "How long receivers of webhooks take",
    unit: "s",
    queries: [[quantile(0.95, "tenantry_webhook_delivery_seconds"), "95 %"]],
  },
  {
    title: "Events of event streams",
    unit: "reqps",
    queries: [[per("outcome", "tenantry_signals_total"), "{{outcome}}"]],
  },
  {
    title: "Streams and deliveries",
    queries: [
      ["sum(tenantry_watchers{SERVERS})", "open watches"],
      ["sum(tenantry_webhooks_delivering{SERVERS})", "webhooks that deliver"],
      ["max(tenantry_webhooks_holding_log{SERVERS})", "webhooks that hold the log"],
    ],
  },
];

const processes: readonly Panel[] = [
  {
    title: "Processor",
    unit: "percentunit",
    queries: [["rate(process_cpu_seconds_total{SERVERS}[RATE])", "{{instance}}"]],
    help: "Of one core.",
  },
  { title: "Memory", unit: "bytes", queries: [["process_resident_memory_bytes{SERVERS}", "{{instance}}"]] },
  {
    title: "Delay of the event loop (99 %)",
    unit: "s",
    queries: [["nodejs_eventloop_lag_p99_seconds{SERVERS}", "{{instance}}"]],
  },
  {
    title: "Garbage collection",
    unit: "s",
    queries: [
      ["sum by (instance, kind) (rate(nodejs_gc_duration_seconds_sum{SERVERS}[RATE]))", "{{instance}} {{kind}}"],
    ],
    help: "Seconds in each second.",
  },
  { title: "Open files and connections", queries: [["process_open_fds{SERVERS}", "{{instance}}"]] },
  {
    title: "Defects",
    queries: [["sum by (instance) (increase(tenantry_unhandled_rejections_total{SERVERS}[RATE]))", "{{instance}}"]],
    help: "Failures for which no code waits.",
  },
];

export const rows: readonly Row[] = [
  { title: "Service", panels: numbers, isTop: true },
  { title: "Calls", panels: calls },
  { title: "Database", panels: database },
  { title: "Queues, access and jobs", panels: within },
  { title: "Webhooks and streams", panels: events },
  { title: "Processes", panels: processes },
];
