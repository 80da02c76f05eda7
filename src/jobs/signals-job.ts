// The job that pushes what event streams have to deliver.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { streamFollowers } from "../events/deliveries/followers.ts";
import { type DeliverDependencies, createDeliverSignals } from "../events/signals/deliver.ts";
import type { SignalDependencies } from "../events/signals/dependencies.ts";
import { createDisableStream } from "../events/signals/disable.ts";
import { createLogOfStream } from "../events/signals/read-ahead.ts";
import { createSignEvent } from "../events/signals/security-event.ts";
import type { PeriodicJob } from "./periodic-job.ts";
import { createTurnsJob } from "./turns-job.ts";

interface SignalsJobOptions {
  readonly dependencies: SignalDependencies &
    Pick<DeliverDependencies, "sealer"> & {
      readonly database: Database;
      readonly sendToStream: DeliverDependencies["send"];
    };
  readonly intervalMs: number;
  readonly logger: Logger;
}

export function createSignalsJob({ dependencies, intervalMs, logger }: SignalsJobOptions): PeriodicJob {
  const { database, sealer, sendToStream: send, signingKeys, issuer, signalCounts: counts } = dependencies;
  const log = createLogOfStream(dependencies);
  const disable = createDisableStream(dependencies, counts);
  const sign = createSignEvent(signingKeys);
  return createTurnsJob({
    database,
    followers: streamFollowers,
    deliver: createDeliverSignals({ database, log, sign, send, sealer, disable, counts, issuer }),
    asked: () => counts.verifications,
    onRunning: (count) => void (counts.running = count),
    intervalMs,
    logger,
  });
}
