import { createServer, type Server } from "node:http";
import { createServer as createSessionServer, type Http2Server } from "node:http2";

import type { ReadLimits } from "./unread-answers.ts";

export interface ListenerLimits {
  /** The maximum size of a request line with its headers, in bytes. */
  readonly maxHeaderBytes: number;
  /** The time from the connection, or the end of the previous request, to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** The time to the end of the body; at least `headersTimeoutMs`. HTTP/2 streams may be open for longer. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection stays open. */
  readonly keepAliveTimeoutMs: number;
  /** How long answers may wait to be read. */
  readonly reads?: ReadLimits;
  /** The maximum number of connections. Further connections are dropped. */
  readonly maxConnections?: number;
  /** The maximum number of concurrent requests on an HTTP/2 connection. */
  readonly maxConcurrentStreams: number;
}

/** Enough for a JSON body in one round trip, and small enough for many connections. */
const streamWindowBytes = 256 * 1024;
const sessionWindowBytes = 1024 * 1024;

export function createHttp1Server(limits: ListenerLimits): Server {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // The interval at which Node checks for slow requests.
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    // Disabled because Node's own refusal has no body.
    requireHostHeader: false,
    noDelay: true,
    // TCP keep-alive, to detect clients that have disappeared.
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  });
  // A client may end its side of the connection after its request. The types of Node lack this property.
  Object.assign(server, { httpAllowHalfOpen: true });
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections;
  return server;
}

export function createHttp2Server(limits: ListenerLimits, maxConcurrentStreams: number): Http2Server {
  const server = createSessionServer({
    // In megabytes. Node's default limits of resets, pings, settings and invalid frames apply.
    maxSessionMemory: 10,
    settings: {
      maxConcurrentStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
      initialWindowSize: streamWindowBytes,
      enablePush: false,
    },
  });
  server.on("session", (session) => session.setLocalWindowSize(sessionWindowBytes));
  return server;
}
