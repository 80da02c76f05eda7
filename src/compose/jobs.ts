import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { startCatalogReview } from "../jobs/catalog-review.ts";
import { migrations } from "../database/migrations/all.ts";
import { startFills } from "../jobs/fills-job.ts";
import { createOperationsJob } from "../jobs/operations-job.ts";
import { createPurgeJob } from "../jobs/purge/purge-job.ts";
import { createStatisticsJob } from "../jobs/statistics-job.ts";
import { createSweepJob } from "../jobs/sweep-job.ts";
import type { ProviderDependencies } from "../resources/provider-dependencies.ts";

const operationsIntervalMs = 2_000;
const sweepIntervalMs = 1_000;
const statisticsIntervalMs = 1_000;

/** Starts what a server does by itself. Returns how each of it is stopped. */
export function composeJobs(
  { purgeIntervalMs }: Pick<Config, "purgeIntervalMs">,
  dependencies: ProviderDependencies,
  logger: Logger,
): { readonly close: () => Promise<void> }[] {
  const { database, registry, installation, retentionDays } = dependencies;
  return [
    startCatalogReview({ database, logger }),
    startFills({ database, migrations, logger }),
    createPurgeJob({
      database,
      registry,
      systemOrgId: installation.systemOrgId,
      retentionDays,
      intervalMs: purgeIntervalMs,
      logger,
    }),
    createOperationsJob({ dependencies, intervalMs: operationsIntervalMs, logger }),
    createSweepJob({ dependencies, intervalMs: sweepIntervalMs, logger }),
    createStatisticsJob({ database, intervalMs: statisticsIntervalMs, logger }),
  ];
}
