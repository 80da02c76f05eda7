import type { Logger } from "pino";
import packageJson from "../../package.json" with { type: "json" };
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1Alpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import type { DatabaseReach } from "../database/reach.ts";
import type { DeliveryCounts } from "../events/deliveries/counts.ts";
import type { OnExchangeEnd } from "../http/access-log.ts";
import { createListener } from "../http/listener/listener.ts";
import type { ProcessFailures } from "../measures/process-failures.ts";
import { watchDiskSpace } from "../measures/disk-space.ts";
import { createExchangeCounts } from "../metrics/exchange-counts.ts";
import { familiesOf } from "../metrics/families.ts";
import { routeOf, routes } from "../metrics/routes.ts";
import { callPrefixes, services, standardServices } from "../rpc/services.ts";
import { type ServiceListener, urlOf } from "../service-listener.ts";
import type { RunningJob } from "../timers/runs.ts";
import type { Service } from "./service.ts";

type Settings = Pick<Config, "dataDirectory" | "metricsHost" | "metricsPort">;

interface Parts {
  readonly openExchanges: ServiceListener["openExchanges"];
  readonly database: Pick<Database, "activity">;
  readonly service: Pick<Service, "handlers" | "scheduling" | "access">;
  readonly jobs: readonly RunningJob[];
  readonly deliveries: DeliveryCounts;
  readonly heldLog: { readonly webhooks: number };
  readonly failures: Readonly<ProcessFailures>;
  /** Undefined for a server that answers nothing while its database is away. */
  readonly reach?: DatabaseReach | undefined;
}

/** What is counted, and served to those who scrape it, on a listener of its own. */
export interface Metrics {
  /** Counts the requests of the service. */
  readonly onEnd: OnExchangeEnd;
  /** Listens. Returns where: `http://127.0.0.1:9464`. @throws Error that says which settings to change. */
  open(parts: Parts): Promise<string>;
  readonly close: () => Promise<void>;
}

/** Nobody needs credentials here, so all is short. */
const limits = {
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  // Longer than most intervals between scrapes.
  keepAliveTimeoutMs: 125_000,
  maxConnections: 50,
  maxConcurrentStreams: 10,
};

/** How long scrapes may take that are under way when the server ends. */
const graceMs = 1_000;

const methods = [...services, ...standardServices, Health, ServerReflection, ServerReflectionV1Alpha].flatMap(
  (service) => service.methods,
);

/** Returns undefined if there is no port for metrics: then nothing is counted of requests. */
export function composeMetrics(
  { dataDirectory, metricsHost, metricsPort }: Settings,
  logger: Logger,
): Metrics | undefined {
  if (metricsPort === undefined) return undefined;
  const exchanges = createExchangeCounts(methods, callPrefixes, routes, routeOf);
  let close = (): Promise<void> => Promise.resolve();
  return {
    onEnd: exchanges.onEnd,

    async open({ openExchanges, database, service, jobs, deliveries, heldLog, failures, reach }) {
      const { handlers, scheduling, access } = service;
      // Loaded only here: a server without metrics starts without the library.
      const { createMetricsWriter } = await import("../metrics/registry.ts");
      const { createMetricsPage } = await import("../metrics/metrics-page.ts");
      const families = familiesOf({
        version: packageJson.version,
        exchanges,
        openExchanges,
        database: database.activity,
        snapshots: access.snapshots.activity,
        queues: {
          lists: handlers.listQueue.activity,
          previews: handlers.previewQueue.activity,
          files: scheduling.fileQueue.activity,
          writes: handlers.writeQueue.activity,
          bodies: scheduling.bodySlots.held,
          body_reads: scheduling.bodySlots.reading,
        },
        timeSlices: scheduling.timeSlices,
        watchers: handlers.watches.count,
        groupSizes: handlers.writeGroups.sizes,
        jobs: [...jobs, access.job],
        deliveries,
        heldLog,
        lostUses: access.uses.lost,
        signals: handlers.signalCounts,
        failures,
        diskSpace: await watchDiskSpace(dataDirectory),
        reach,
      });
      const listener = createListener({
        handler: createMetricsPage(createMetricsWriter(families)),
        limits,
        settings: "TENANTRY_METRICS_HOST and TENANTRY_METRICS_PORT",
        onError: (err) => logger.error({ err }, "the listener of metrics failed"),
      });
      const { port } = await listener.listen(metricsPort, metricsHost);
      close = () => listener.close(graceMs);
      const url = urlOf(metricsHost, port);
      logger.info(`metrics are at ${url}/metrics`);
      return url;
    },

    close: () => close(),
  };
}
