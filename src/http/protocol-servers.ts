import { createServer, type Server } from "node:http";
import { createServer as createSessionServer, type Http2Server } from "node:http2";

export interface ListenerLimits {
  /** The request line and headers of one request, in bytes. */
  readonly maxHeaderBytes: number;
  /** From the connection, or the end of the request before, to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** To the end of the body; at least `headersTimeoutMs`. Streams of HTTP/2 may stay open longer. */
  readonly requestTimeoutMs: number;
  /** How long a connection without a request stays open. */
  readonly keepAliveTimeoutMs: number;
  /** Connections beyond this many are dropped at once. */
  readonly maxConnections?: number;
  /** Requests at a time on one HTTP/2 connection. */
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
    // How often Node looks for requests that are too slow.
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    // Node's own refusal has no body.
    requireHostHeader: false,
    noDelay: true,
    // TCP's, to notice clients that vanished.
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  });
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections;
  return server;
}

export function createHttp2Server(limits: ListenerLimits): Http2Server {
  const server = createSessionServer({
    // Megabytes. Node's own bounds on resets, pings, settings and invalid frames are kept.
    maxSessionMemory: 10,
    settings: {
      maxConcurrentStreams: limits.maxConcurrentStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
      initialWindowSize: streamWindowBytes,
      enablePush: false,
    },
  });
  server.on("session", (session) => session.setLocalWindowSize(sessionWindowBytes));
  return server;
}
