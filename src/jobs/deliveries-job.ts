// The job that delivers what webhooks have to deliver.
import type { Logger } from "pino";
import type { SignHead } from "../changes/signed-head.ts";
import type { Database } from "../database/database.ts";
import type { LoggedMessage } from "../events/changes/logged-messages.ts";
import type { AttemptDependencies } from "../events/deliveries/attempt.ts";
import { type DeliveryCounts, createDeliveryCounts } from "../events/deliveries/counts.ts";
import { createDeliver } from "../events/deliveries/deliver.ts";
import { createDisableWebhook } from "../events/deliveries/disable.ts";
import { webhookFollowers } from "../events/deliveries/followers.ts";
import { createLogOfWebhook } from "../events/deliveries/read-ahead.ts";
import { createRecentHead } from "../events/deliveries/recent-heads.ts";
import type { ResourceDependencies } from "../standard-methods/rules.ts";
import type { PeriodicJob } from "./periodic-job.ts";
import { createTurnsJob } from "./turns-job.ts";

interface DeliveriesJobOptions {
  readonly dependencies: Pick<ResourceDependencies, "registry" | "authorHolds"> &
    Pick<AttemptDependencies, "sealer"> & {
      readonly database: Database;
      readonly loggedMessage: LoggedMessage;
      readonly signHead: SignHead;
      readonly sendToWebhook: AttemptDependencies["send"];
    };
  readonly intervalMs: number;
  readonly logger: Logger;
}

export interface DeliveriesJob extends PeriodicJob {
  readonly counts: DeliveryCounts;
}

export function createDeliveriesJob({ dependencies, intervalMs, logger }: DeliveriesJobOptions): DeliveriesJob {
  const { database, sealer, sendToWebhook: send } = dependencies;
  const counts = createDeliveryCounts();
  const log = createLogOfWebhook(dependencies);
  const recentHead = createRecentHead(dependencies);
  const disable = createDisableWebhook(dependencies, counts);
  const job = createTurnsJob({
    database,
    followers: webhookFollowers,
    deliver: createDeliver({ database, log, recentHead, send, sealer, disable, counts }),
    onRunning: (count) => void (counts.running = count),
    intervalMs,
    logger,
  });
  return { ...job, counts };
}
