// Bounds what one client address takes of the server: its open connections, and its requests in flight. The connections of a
// trusted proxy are those of many clients, so only the requests in them are counted, for the addresses that it forwards.
import { constants, type IncomingHttpHeaders, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import proxyAddress from "proxy-addr";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { networkOf } from "../identity/address-prefix.ts";
import { createAnonymousPace } from "../scheduling/anonymous-pace.ts";
import { createCounts } from "../scheduling/counts.ts";
import { anonymous } from "../scheduling/settings.ts";
import { type AnnouncedStreams, createAnnouncedStreams } from "./announced-streams.ts";
import type { RecordingHandler } from "./call-record.ts";
import { connectionOf, createClientAddress } from "./client-address.ts";
import { createHandleAtPace, type HandleAtPace } from "./pace-requests.ts";
import { answerError } from "./plain-error.ts";
import { type PacedHandler, type RequestPace, unpaced } from "./request-pace.ts";
import { requestPathOf } from "./request-path.ts";

interface AddressLimitOptions {
  readonly trustedProxies: readonly string[];
  /** Of one address; of one /64 for IPv6. */
  readonly maxConnections: number;
  /** Of one address, in flight. */
  readonly maxRequests: number;
  /** Of one address and of callers that are not known, in a second; 0 for no limit. */
  readonly anonymousPerSecond: number;
  /** Of an HTTP/2 session. */
  readonly maxStreams: number;
  readonly logger: Pick<Logger, "warn">;
  /** The minimum time between two log lines. */
  readonly logIntervalMs?: number;
}

export interface AddressLimits extends Pick<AnnouncedStreams, "streamsOf" | "onSession"> {
  /** Counts a connection until it closes. @returns false when its address has too many; then the caller closes it. */
  readonly admit: (socket: Socket) => boolean;
  /**
   * Decides about a new stream of a session. One whose address has too many requests in flight is refused here, where that costs
   * least.
   *
   * @returns the error code of HTTP/2 to refuse it with; undefined for none.
   */
  readonly refusalOfStream: (session: ServerHttp2Session, headers: IncomingHttpHeaders) => number | undefined;
  /** Logs that a connection was closed because the server has too many. */
  readonly onDrop: (address: string | undefined) => void;
  /**
   * Answers 429 when the address of a request has too many in flight, and delays anonymous requests once there are many of them. A number
   * of health probes is exempt from both.
   */
  readonly limitRequests: (handler: PacedHandler) => RecordingHandler;
}

const defaultLogIntervalMs = 60_000;

/** What proxies and orchestrators ask. They restart a server that answers late, or send it nothing more. */
const probePaths: ReadonlySet<string> = new Set([
  "/healthz",
  "/readyz",
  `/${Health.typeName}/${Health.method.check.name}`,
]);

export function createAddressLimits(options: AddressLimitOptions): AddressLimits {
  const { trustedProxies, maxConnections, maxRequests, anonymousPerSecond, maxStreams, logger } = options;
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  const clientAddress = createClientAddress(trustedProxies);
  const connections = createCounts(maxConnections);
  const requests = createCounts(maxRequests);
  const probes = createAnonymousPace(anonymous.probes);
  // Cached, because many requests in a row are of the same client.
  let last = { address: "", network: "" };
  const log = createBoundedLog(logger, options.logIntervalMs ?? defaultLogIntervalMs);
  const handleAtPace = anonymousPerSecond === 0 ? undefined : createLoggedPace(options, log);

  /** Returns the network of a connection; undefined if that may be one of many clients, or is gone. */
  const ownNetworkOf = ({ remoteAddress }: { readonly remoteAddress?: string | undefined }): string | undefined =>
    remoteAddress === undefined || isTrusted(remoteAddress, 0) ? undefined : networkOf(remoteAddress);

  const streams = createAnnouncedStreams(maxStreams, ownNetworkOf);

  const logTooMany = (network: string): void =>
    log(network, `refused a request: its address has ${maxRequests} in flight`);

  return {
    admit(socket) {
      const network = ownNetworkOf(socket);
      if (network === undefined) return true;
      if (!connections.add(network)) {
        log(network, `closed a connection: its address has ${maxConnections} already`);
        return false;
      }
      socket.once("close", () => connections.remove(network));
      return true;
    },

    streamsOf: streams.streamsOf,
    onSession: streams.onSession,

    refusalOfStream(session, headers) {
      const network = streams.networkOfSession(session);
      if (network === undefined || !requests.isFull(network)) return undefined;
      if (isProbe(headers[":path"]) && probes.isDue(network)) return undefined;
      logTooMany(network);
      return constants.NGHTTP2_ENHANCE_YOUR_CALM;
    },

    onDrop(address) {
      log(address, "closed a connection: the server has too many");
    },

    limitRequests: (handler) => (request, response, record) => {
      const address = clientAddress(request);
      if (address === null) return handler(request, response, unpaced, record);
      record.address = address;
      if (address !== last.address) last = { address, network: networkOf(address) };
      const { network } = last;
      if (isProbe(request.url) && probes.takeDue(network)) return handler(request, response, unpaced, record);
      if (!requests.add(network)) {
        logTooMany(network);
        return answerError(response, tooMany(maxRequests));
      }
      response.on("close", () => requests.remove(network));
      const markKnown = (): void => streams.raise(connectionOf(request));
      const handle = (pace: RequestPace) => handler(request, response, pace, record);
      if (handleAtPace !== undefined) return handleAtPace(handle, request, response, network, markKnown);
      return handle({ ...unpaced, markKnown });
    },
  };
}

type Log = (address: string | undefined, message: string) => void;

function createLoggedPace({ trustedProxies, anonymousPerSecond }: AddressLimitOptions, log: Log): HandleAtPace {
  return createHandleAtPace({
    trustedProxies,
    perSecond: anonymousPerSecond,
    onTooMany(network, response) {
      log(network, `refused a request: its address has sent more than ${anonymousPerSecond} anonymous ones a second`);
      answerError(response, tooManyAnonymous(anonymousPerSecond));
    },
  });
}

function isProbe(url: string | undefined): boolean {
  return url !== undefined && probePaths.has(requestPathOf(url));
}

/** Creates a function that logs at most one line in an interval, with the number of lines that were left out before. */
function createBoundedLog(logger: Pick<Logger, "warn">, intervalMs: number): Log {
  let nextTime = -Infinity;
  let leftOut = 0;
  return (address, message) => {
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
