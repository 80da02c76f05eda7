import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { type Health, createHealth } from "../http/health/health.ts";
import type { Reach } from "./reach.ts";

const checkTimeoutMs = 2_000;

/**
 * Creates the health of a server, which is that of its database until the server stops.
 *
 * @param reach of a server that answers checks while its database is away, and is ready for as long as it does.
 */
export function composeHealth(database: Database, logger: Logger, reach?: Pick<Reach, "answersSince">): Health {
  const staleSince = (): Date | undefined => reach?.answersSince();
  return createHealth({
    checks: {
      async database() {
        if (staleSince() === undefined) await database.requireWritable(checkTimeoutMs);
      },
    },
    checkTimeoutMs,
    onCheckFailed: (name, err) => logger.warn({ err, check: name }, "a health check failed"),
    staleSince,
  });
}
