import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { notePredefinedRoles } from "../access/snapshots/past-roles.ts";
import { startCatalogReview } from "../jobs/catalog-review.ts";
import { migrations } from "../database/migrations/all.ts";
import type { DeliveryCounts } from "../events/deliveries/counts.ts";
import { startFills } from "../jobs/fills-job.ts";
import { createLogHeadsJob } from "../jobs/log-heads-job.ts";
import { startOldRowsJob } from "../jobs/old-rows-job.ts";
import { createOperationsJob } from "../jobs/operations-job.ts";
import { createPastStatesJob } from "../jobs/past-states-job.ts";
import { createPurgeJob } from "../jobs/purge/purge-job.ts";
import { createStatisticsJob } from "../jobs/statistics-job.ts";
import { createSweepJob } from "../jobs/sweep-job.ts";
import { createSignalsJob } from "../jobs/signals-job.ts";
import { createDeliveriesJob } from "../jobs/deliveries-job.ts";
import { createWarningsJob } from "../jobs/warnings-job.ts";
import type { ServiceDependencies } from "../rpc/services.ts";
import type { Access } from "./access.ts";
import type { RunningJob } from "../timers/runs.ts";

const operationsIntervalMs = 2_000;
const sweepIntervalMs = 1_000;
const statisticsIntervalMs = 1_000;
const deliveriesIntervalMs = 250;

interface Jobs {
  readonly jobs: readonly RunningJob[];
  /** What the deliveries of webhooks came to. */
  readonly deliveries: DeliveryCounts;
}

/** Starts what a server does by itself. */
export function composeJobs(
  { purgeIntervalMs }: Pick<Config, "purgeIntervalMs">,
  dependencies: ServiceDependencies & Pick<Access, "longReads">,
  logger: Logger,
): Jobs {
  const { database, registry, installation, mails, retentionDays, signHead, longReads } = dependencies;
  const { mailer, issuer } = mails;
  // Beside the start: it only says what others read later.
  void notePredefinedRoles(database, dependencies.predefinedRoles, logger);
  const ofPurge = { database, registry, installation, retentionDays, intervalMs: purgeIntervalMs, logger };
  const deliveries = createDeliveriesJob({ dependencies, intervalMs: deliveriesIntervalMs, logger });
  const jobs = [
    { name: "catalog-review", ...startCatalogReview({ database, logger }) },
    { name: "log-heads", ...createLogHeadsJob({ database, signHead, logger }) },
    { name: "fills", ...startFills({ database, migrations, logger }) },
    { name: "purge", ...createPurgeJob(ofPurge) },
    { name: "old-rows", ...startOldRowsJob({ database, logger }) },
    { name: "operations", ...createOperationsJob({ dependencies, intervalMs: operationsIntervalMs, logger }) },
    { name: "past-states", ...createPastStatesJob({ database, registry, longReads, logger }) },
    { name: "sweep", ...createSweepJob({ dependencies, intervalMs: sweepIntervalMs, logger }) },
    { name: "deliveries", ...deliveries },
    { name: "signals", ...createSignalsJob({ dependencies, intervalMs: deliveriesIntervalMs, logger }) },
    { name: "statistics", ...createStatisticsJob({ database, intervalMs: statisticsIntervalMs, logger }) },
    ...(mailer === undefined ? [] : [{ name: "warnings", ...createWarningsJob({ database, mailer, issuer, logger }) }]),
  ];
  return { jobs, deliveries: deliveries.counts };
}
