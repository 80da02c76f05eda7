import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { type OnExchangeEnd, withAccessLog } from "./http/access-log.ts";
import { createAddressLimits } from "./http/address-limits.ts";
import { withCors } from "./http/cors.ts";
import { createAnswerStarting } from "./http/health/answer-starting.ts";
import { isHttp2 } from "./http/http-messages.ts";
import { type Listener, createListener } from "./http/listener/listener.ts";
import type { PacedHandler } from "./http/request-pace.ts";
import { createBeginTrace } from "./http/trace-request.ts";
import type { Tracing } from "./tracing/tracing.ts";

const keepAliveTimeoutMs = 65_000;
const maxConcurrentStreams = 256;

export interface ServiceListener {
  /** Listens, if it does not yet. Until there is a handler, it answers that the server is starting. @throws Error as `listen`. */
  open(): Promise<{ readonly url: string; readonly address: string; readonly port: number }>;
  /** Sets what answers from now on. */
  serve(handler: PacedHandler): void;
  /**
   * Goes on answering for a time, and closes each HTTP/1.1 connection with its next answer, which says so: a proxy that keeps connections
   * has none left on which it could send a request when `close` closes them.
   */
  drain(ms: number): Promise<void>;
  /** Closes the listener if it is open. */
  close(graceMs: number): Promise<void>;
  readonly openExchanges: Listener["openExchanges"];
}

/** Returns the URL of a server: `http://127.0.0.1:8080`. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Creates the listener of the service, with what comes before its handler: the access log, the limits of addresses, and CORS.
 *
 * @param onEnd is told of each request when it has ended.
 * @param tracing records requests.
 */
export function createServiceListener(
  config: Config,
  logger: Logger,
  onEnd?: OnExchangeEnd,
  tracing?: Tracing,
): ServiceListener {
  const { limitRequests, ...ofConnections } = createAddressLimits({
    trustedProxies: config.trustedProxies,
    maxConnections: config.connectionsPerAddress,
    maxRequests: config.requestsPerAddress,
    anonymousPerSecond: config.anonymousPerAddress,
    maxStreams: maxConcurrentStreams,
    logger,
  });
  let current: PacedHandler = createAnswerStarting();
  let isDraining = false;
  const handler: PacedHandler = (request, response, ...more) => {
    if (isDraining && !isHttp2(response)) response.shouldKeepAlive = false;
    return current(request, response, ...more);
  };
  const listener = createListener({
    handler: withAccessLog(limitRequests(withCors(handler, config.corsOrigins)), {
      logger,
      enabled: config.accessLog,
      onEnd,
      beginTrace: tracing && createBeginTrace(tracing, config.trustedProxies),
    }),
    limits: {
      maxHeaderBytes: config.maxHeaderBytes,
      headersTimeoutMs: config.requestTimeoutMs,
      requestTimeoutMs: config.requestTimeoutMs,
      keepAliveTimeoutMs,
      maxConcurrentStreams,
      maxConnections: config.clientConnections,
    },
    ...ofConnections,
    onError: (err) => logger.error({ err }, "the listener failed"),
  });
  let opened: ReturnType<ServiceListener["open"]> | undefined;
  return {
    open() {
      opened ??= listener.listen(config.port, config.host).then(({ address, port }) => ({
        url: urlOf(config.host, port),
        address,
        port,
      }));
      return opened;
    },
    serve: (next) => void (current = next),
    async drain(ms) {
      isDraining = true;
      await sleep(ms);
    },
    openExchanges: listener.openExchanges,
    async close(graceMs) {
      // One that could not be opened has nothing to close.
      if (opened !== undefined && (await opened.catch(() => undefined)) !== undefined) await listener.close(graceMs);
    },
  };
}
