import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { withAccessLog } from "./http/access-log.ts";
import { createAddressLimits } from "./http/address-limits.ts";
import { withCors } from "./http/cors.ts";
import type { HttpHandler } from "./http/http-messages.ts";
import { type Listener, createListener } from "./http/listener/listener.ts";

const keepAliveTimeoutMs = 65_000;
const maxConcurrentStreams = 256;

/** Creates the listener of the service, with what comes before its handler: the access log, the limits of addresses, and CORS. */
export function createServiceListener(config: Config, handler: HttpHandler, logger: Logger): Listener {
  const { admit, onDrop, limitRequests } = createAddressLimits({
    trustedProxies: config.trustedProxies,
    maxConnections: config.connectionsPerAddress,
    maxRequests: config.requestsPerAddress,
    anonymousPerSecond: config.anonymousPerAddress,
    logger,
  });
  return createListener({
    handler: withAccessLog(limitRequests(withCors(handler, config.corsOrigins)), {
      logger,
      enabled: config.accessLog,
    }),
    limits: {
      maxHeaderBytes: config.maxHeaderBytes,
      headersTimeoutMs: config.requestTimeoutMs,
      requestTimeoutMs: config.requestTimeoutMs,
      keepAliveTimeoutMs,
      maxConcurrentStreams,
      maxConnections: config.clientConnections,
    },
    admit,
    onDrop,
    onError: (err) => logger.error({ err }, "the listener failed"),
  });
}
