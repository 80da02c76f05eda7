// What causes each alert, and what is too little for it: series as promtool writes them, one value a minute.

export interface AlertCase {
  /** What fires the alert by `at`, but not by `before`. */
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  readonly before: string;
  /** What never does. */
  readonly quiet: Readonly<Record<string, string>>;
}

const of = (labels = ""): string => `{job="tenantry",instance="a:9464"${labels === "" ? "" : `,${labels}`}}`;

const code = (name: string): string => `tenantry_calls_total${of(`rpc_response_status_code="${name}"`)}`;

const bucket = (le: string, method = "iam.v1alpha.OrgsService/GetOrg"): string =>
  `rpc_server_call_duration_seconds_bucket${of(`rpc_method="${method}",le="${le}"`)}`;

const webhooks = (outcome: string): string => `tenantry_webhook_deliveries_total${of(`outcome="${outcome}"`)}`;

const jobs = (metric: string, job: string): string => `tenantry_job_${metric}${of(`job_name="${job}"`)}`;

const version = (name: string): string => `tenantry_build_info${of(`version="${name}"`)}`;

export const alertCases: Readonly<Record<string, AlertCase>> = {
  TenantryGone: { series: { "up{job='other'}": "1x20" }, at: "5m", before: "4m", quiet: { [version("1")]: "1x20" } },
  TenantryDown: {
    series: { [`up${of()}`]: "1x5 0x20" },
    at: "8m",
    before: "7m",
    quiet: { "up{job='other'}": "0x20", [`up${of()}`]: "1x3 0 1x20" },
  },
  TenantryNotReady: {
    series: { [`tenantry_http_requests_total${of('http_route="/readyz",http_response_status_code="503"')}`]: "0+6x30" },
    at: "5m",
    before: "3m",
    quiet: { [`tenantry_http_requests_total${of('http_route="/readyz",http_response_status_code="200"')}`]: "0+6x30" },
  },
  TenantryDatabaseAway: {
    series: { [`tenantry_database_away_seconds${of()}`]: "0x5 30 90 150x20" },
    at: "7m",
    before: "6m",
    quiet: { [`tenantry_database_away_seconds${of()}`]: "0x5 30 59 0x20" },
  },
  TenantryDatabaseFull: {
    series: { [`tenantry_database_disk_full_total${of()}`]: "0x5 1 4x20" },
    at: "7m",
    before: "5m",
    quiet: { [`tenantry_database_disk_full_total${of()}`]: "7x30" },
  },
  TenantryDiskNearlyFull: {
    series: {
      [`tenantry_data_disk_free_bytes${of()}`]: "20x3 9x20",
      [`tenantry_data_disk_size_bytes${of()}`]: "100x30",
    },
    at: "12m",
    before: "8m",
    quiet: {
      [`tenantry_data_disk_free_bytes${of()}`]: "9x3 11x20",
      [`tenantry_data_disk_size_bytes${of()}`]: "100x30",
    },
  },
  TenantryCallsFail: {
    series: { [code("OK")]: "0+980x90", [code("UNAVAILABLE")]: "0+20x90" },
    at: "80m",
    before: "2m",
    quiet: { [code("OK")]: "0+999x90", [code("INTERNAL")]: "0+1x90", [code("DEADLINE_EXCEEDED")]: "0+500x90" },
  },
  TenantryCallsFailSlowly: {
    series: { [code("OK")]: "0+990x500", [code("INTERNAL")]: "0+10x500" },
    at: "450m",
    before: "10m",
    quiet: { [code("OK")]: "0+998x500", [code("INTERNAL")]: "0+2x500", [code("NOT_FOUND")]: "0+500x500" },
  },
  TenantryCallsSlow: {
    series: { [bucket("0.5")]: "0+50x60", [bucket("2.5")]: "0+100x60", [bucket("+Inf")]: "0+100x60" },
    at: "20m",
    before: "9m",
    quiet: {
      [bucket("0.5")]: "0+100x60",
      [bucket("+Inf")]: "0+100x60",
      [bucket("10", "iam.v1alpha.ChangesService/WatchChanges")]: "0+100x60",
      [bucket("+Inf", "iam.v1alpha.ChangesService/WatchChanges")]: "0+100x60",
    },
  },
  TenantryCallsRefused: {
    series: { [code("OK")]: "0+90x60", [code("RESOURCE_EXHAUSTED")]: "0+10x60" },
    at: "20m",
    before: "9m",
    quiet: { [code("OK")]: "0+99x60", [code("RESOURCE_EXHAUSTED")]: "0+1x60" },
  },
  TenantryConnectionsShort: {
    series: { [`tenantry_database_waiting${of('pool="writes"')}`]: "0x5 3x20" },
    at: "12m",
    before: "9m",
    quiet: { [`tenantry_database_waiting${of('pool="writes"')}`]: "3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0" },
  },
  TenantryCallsWait: {
    series: { [`tenantry_queue_waiting${of('queue="lists"')}`]: "0x5 3x20" },
    at: "17m",
    before: "14m",
    quiet: { [`tenantry_queue_waiting${of('queue="lists"')}`]: "3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0" },
  },
  TenantryProcessorBusy: {
    series: { [`nodejs_eventloop_lag_p99_seconds${of()}`]: "0.3x30" },
    at: "10m",
    before: "9m",
    quiet: {
      [`nodejs_eventloop_lag_p99_seconds${of()}`]: "0.05x30",
      "nodejs_eventloop_lag_p99_seconds{job='o'}": "1x30",
    },
  },
  TenantryFilesShort: {
    series: { [`process_open_fds${of()}`]: "900x30", [`process_max_fds${of()}`]: "1000x30" },
    at: "5m",
    before: "4m",
    quiet: { [`process_open_fds${of()}`]: "700x30", [`process_max_fds${of()}`]: "1000x30" },
  },
  TenantryJobFails: {
    series: { [jobs("failures_total", "purge")]: "0+1x60" },
    at: "40m",
    before: "5m",
    quiet: { [jobs("failures_total", "purge")]: "0 3x60" },
  },
  TenantryJobStuck: {
    series: { [jobs("last_success_timestamp_seconds", "sweep")]: "0x60" },
    at: "16m",
    before: "15m",
    quiet: {
      [jobs("last_success_timestamp_seconds", "sweep")]: "0+60x60",
      [jobs("last_success_timestamp_seconds", "fills")]: "0x60",
    },
  },
  TenantryDefect: {
    series: { [`tenantry_unhandled_rejections_total${of()}`]: "0x5 1x30" },
    at: "7m",
    before: "5m",
    quiet: { [`tenantry_unhandled_rejections_total${of()}`]: "1x30" },
  },
  TenantryRestarts: {
    series: { [`process_start_time_seconds${of()}`]: "0 60 120 180 240x60" },
    at: "5m",
    before: "3m",
    quiet: { [`process_start_time_seconds${of()}`]: "0x10 600x20 1800x60" },
  },
  TenantryVersionsDiffer: {
    series: { [version("1")]: "1x200", [version("2")]: "1x200" },
    at: "120m",
    before: "119m",
    quiet: { [version("1")]: "1x60", [version("2")]: "_x50 1x200" },
  },
  TenantrySnapshotsEvicted: {
    series: {
      [`tenantry_access_snapshot_uses_total${of('outcome="read"')}`]: "0+120x60",
      [`tenantry_access_snapshot_evictions_total${of()}`]: "0+120x60",
    },
    at: "30m",
    before: "15m",
    quiet: {
      [`tenantry_access_snapshot_uses_total${of('outcome="read"')}`]: "0+120x60",
      [`tenantry_access_snapshot_evictions_total${of()}`]: "0x60",
    },
  },
  TenantryWebhooksFail: {
    series: { [webhooks("delivered")]: "0+10x90", [webhooks("failed")]: "0+30x90" },
    at: "50m",
    before: "29m",
    quiet: { [webhooks("delivered")]: "0+30x90", [webhooks("dead")]: "0+10x90" },
  },
  TenantryWebhookDisabled: {
    series: { [webhooks("disabled")]: "0x5 1x30" },
    at: "7m",
    before: "5m",
    quiet: { [webhooks("disabled")]: "2x60" },
  },
  TenantryEventStreamDisabled: {
    series: { [`tenantry_signals_total${of('outcome="disabled"')}`]: "0x5 1x30" },
    at: "7m",
    before: "5m",
    quiet: { [`tenantry_signals_total${of('outcome="refused"')}`]: "0+1x60" },
  },
  TenantryLogHeld: {
    series: { [`tenantry_webhooks_holding_log${of()}`]: "1x1500" },
    at: "1440m",
    before: "1439m",
    quiet: { [`tenantry_webhooks_holding_log${of()}`]: "0x1500" },
  },
};
