import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { type Health, createHealth } from "../http/health/health.ts";

const checkTimeoutMs = 2_000;

/** Creates the health of a server, which is that of its database until the server stops. */
export function composeHealth(database: Database, logger: Logger): Health {
  return createHealth({
    checks: { database: () => database.requireWritable(checkTimeoutMs) },
    checkTimeoutMs,
    onCheckFailed: (name, err) => logger.warn({ err, check: name }, "a health check failed"),
  });
}
