// Bounds what one client address takes of the server: its open connections, and its requests in flight. The connections of a
// trusted proxy are those of many clients, so only the requests in them are counted, for the addresses that it forwards.
import type { Socket } from "node:net";
import type { Logger } from "pino";
import proxyAddress from "proxy-addr";
import { networkOf } from "../identity/address-prefix.ts";
import { createClientAddress } from "./client-address.ts";
import { createCounts } from "./counts.ts";
import type { HttpHandler } from "./http-messages.ts";
import { createHandleAtPace } from "./pace-requests.ts";
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

export function createAddressLimits(options: AddressLimitOptions): AddressLimits {
  const { trustedProxies, maxConnections, maxRequests, anonymousPerSecond, logger } = options;
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  const clientAddress = createClientAddress(trustedProxies);
  const connections = createCounts(maxConnections);
  const requests = createCounts(maxRequests);
  // Cached, because many requests in a row are of the same client.
  let last = { address: "", network: "" };
  const log = createBoundedLog(logger, options.logIntervalMs ?? defaultLogIntervalMs);
  const handleAtPace =
    anonymousPerSecond === 0
      ? undefined
      : createHandleAtPace({
          trustedProxies,
          perSecond: anonymousPerSecond,
          onTooMany(network, response) {
            const message = `refused a request: its address has sent more than ${anonymousPerSecond} anonymous ones a second`;
            log(network, message);
            answerError(response, tooManyAnonymous(anonymousPerSecond));
          },
        });

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
      return handleAtPace === undefined
        ? handler(request, response)
        : handleAtPace(handler, request, response, network);
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
