// Bounds what one client address takes of the server: its open connections, and its requests in flight. The connections of a
// trusted proxy are those of many clients, so only the requests in them are counted, for the addresses that it forwards.
import type { Socket } from "node:net";
import type { Logger } from "pino";
import proxyAddress from "proxy-addr";
import { networkOf } from "../identity/address-prefix.ts";
import { createAnonymousPace } from "./anonymous-pace.ts";
import { connectionOf, createClientAddress, peerOf } from "./client-address.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "./http-messages.ts";
import { onKnownCaller } from "./known-caller.ts";
import { answerError } from "./plain-error.ts";

interface AddressLimitOptions {
  readonly trustedProxies: readonly string[];
  /** Of one address; of one /64 for IPv6. */
  readonly maxConnections: number;
  /** Of one address, in flight. */
  readonly maxRequests: number;
  /** Of one address and of callers that are not known, in a second; 0 for no limit. */
  readonly anonymousPerSecond: number;
  readonly logger: Pick<Logger, "warn">;
  /** The minimum time between two log lines. */
  readonly logIntervalMs?: number;
}

export interface AddressLimits {
  /**
   * Counts a connection until it closes.
   *
   * @returns false when its address has too many; then the caller closes it.
   */
  readonly admit: (socket: Socket) => boolean;
  /** Logs that a connection was closed because the server has too many. */
  readonly onDrop: (address: string | undefined) => void;
  /**
   * Answers 429 when the address of a request has too many in flight. Lets anonymous requests wait once there are many of them.
   */
  readonly limitRequests: (handler: HttpHandler) => HttpHandler;
}

const defaultLogIntervalMs = 60_000;
/** As long as clients wait that have two thousand requests in flight. */
const maxWaitMs = 2_000;

export function createAddressLimits(options: AddressLimitOptions): AddressLimits {
  const { trustedProxies, maxConnections, maxRequests, anonymousPerSecond, logger } = options;
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  const clientAddress = createClientAddress(trustedProxies);
  const connections = createCounts(maxConnections);
  const requests = createCounts(maxRequests);
  // Cached, because many requests in a row are of the same client.
  let last = { address: "", network: "" };
  const log = createBoundedLog(logger, options.logIntervalMs ?? defaultLogIntervalMs);
  const pace = anonymousPerSecond === 0 ? undefined : createAnonymousPace({ perSecond: anonymousPerSecond });

  /** Returns the connection of a request if no proxy has others on it. */
  const ownConnectionOf = (request: HttpRequest): object | undefined => {
    if (trustedProxies.length === 0) return connectionOf(request);
    const peer = peerOf(request);
    return peer === undefined || isTrusted(peer, 0) ? undefined : connectionOf(request);
  };

  const handleAtPace = (
    handler: HttpHandler,
    request: HttpRequest,
    response: HttpResponse,
    network: string,
  ): void | Promise<void> => {
    if (pace === undefined) return handler(request, response);
    const { waitMs, end } = pace.begin(network, ownConnectionOf(request));
    let isHandled = false;
    let isKnown = false;
    // At once: many calls of one client may be in flight.
    onKnownCaller(request, () => {
      if (!isKnown) end("known");
      isKnown = true;
    });
    response.on("close", () => {
      if (!isKnown) end(isHandled ? "anonymous" : "not handled");
    });
    const handle = (): void | Promise<void> => {
      isHandled = true;
      return handler(request, response);
    };
    if (waitMs === 0) return handle();
    if (waitMs > maxWaitMs) {
      log(network, `refused a request: its address has sent more than ${anonymousPerSecond} anonymous ones a second`);
      return answerError(response, tooManyAnonymous(anonymousPerSecond));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => void Promise.resolve().then(handle).then(resolve, reject), waitMs);
      response.on("close", () => {
        clearTimeout(timer);
        if (!isHandled) resolve();
      });
    });
  };

  return {
    admit(socket) {
      const { remoteAddress } = socket;
      if (remoteAddress === undefined || isTrusted(remoteAddress, 0)) return true;
      const network = networkOf(remoteAddress);
      if (!connections.add(network)) {
        log(network, `closed a connection: its address has ${maxConnections} already`);
        return false;
      }
      socket.once("close", () => connections.remove(network));
      return true;
    },

    onDrop(address) {
      log(address, "closed a connection: the server has too many");
    },

    limitRequests: (handler) => (request, response) => {
      const address = clientAddress(request);
      if (address === null) return handler(request, response);
      if (address !== last.address) last = { address, network: networkOf(address) };
      const { network } = last;
      if (!requests.add(network)) {
        log(network, `refused a request: its address has ${maxRequests} in flight`);
        return answerError(response, tooMany(maxRequests));
      }
      response.on("close", () => requests.remove(network));
      return handleAtPace(handler, request, response, network);
    },
  };
}

interface Counts {
  /** @returns false when the count is at its maximum. */
  add(key: string): boolean;
  remove(key: string): void;
}

function createCounts(max: number): Counts {
  const counts = new Map<string, number>();
  return {
    add(key) {
      const count = counts.get(key) ?? 0;
      if (count >= max) return false;
      counts.set(key, count + 1);
      return true;
    },
    remove(key) {
      const count = counts.get(key) ?? 0;
      if (count <= 1) counts.delete(key);
      else counts.set(key, count - 1);
    },
  };
}

/** Creates a function that logs at most one line in an interval, with the number of lines that were left out before. */
function createBoundedLog(logger: Pick<Logger, "warn">, intervalMs: number) {
  let nextTime = -Infinity;
  let leftOut = 0;
  return (address: string | undefined, message: string): void => {
    const now = performance.now();
    if (now < nextTime) {
      leftOut++;
      return;
    }
    nextTime = now + intervalMs;
    logger.warn({ address, ...(leftOut > 0 && { others: leftOut }) }, message);
    leftOut = 0;
  };
}

const tooManyAnonymous = (perSecond: number) =>
  ({
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    reason: "RATE_LIMITED",
    message: `The address of the client has sent more than ${perSecond} requests a second without valid credentials, or beyond rate limits; try again in 2 s.`,
    metadata: { limit: "address-anonymous-requests" },
    headers: { "Retry-After": "2" },
  }) as const;

const tooMany = (max: number) =>
  ({
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    reason: "RATE_LIMITED",
    message: `The address of the client has ${max} requests in flight; try again in 1 s.`,
    metadata: { limit: "address-requests" },
    headers: { "Retry-After": "1" },
  }) as const;
