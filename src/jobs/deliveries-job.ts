// The job that delivers what webhooks have to deliver.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import type { LoggedMessage } from "../events/changes/logged-messages.ts";
import type { AttemptDependencies } from "../events/deliveries/attempt.ts";
import { type DeliveryCounts, createDeliveryCounts } from "../events/deliveries/counts.ts";
import { createDeliver } from "../events/deliveries/deliver.ts";
import { createDisableWebhook } from "../events/deliveries/disable.ts";
import { createLogOfWebhook } from "../events/deliveries/read-ahead.ts";
import { findDue } from "../events/deliveries/store.ts";
import type { ResourceDependencies } from "../standard-methods/rules.ts";
import type { PeriodicJob } from "./periodic-job.ts";
import { createTurnsJob } from "./turns-job.ts";

interface DeliveriesJobOptions {
  readonly dependencies: Pick<ResourceDependencies, "registry" | "authorHolds"> &
    Pick<AttemptDependencies, "sealer"> & {
      readonly database: Database;
      readonly loggedMessage: LoggedMessage;
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
  const disable = createDisableWebhook(dependencies, counts);
  const deliver = createDeliver({ database, log, send, sealer, disable, counts });
  const onRunning = (count: number): void => void (counts.running = count);
  return { ...createTurnsJob({ database, findDue, deliver, onRunning, intervalMs, logger }), counts };
}
