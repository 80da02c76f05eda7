import { cutRequest } from "../../http/cut-request.ts";
import { handleLater } from "../../http/handle-later.ts";
import { type HttpRequest, type HttpResponse, isHttp2 } from "../../http/http-messages.ts";
import { paceKey } from "../../http/request-pace.ts";
import { networkOf } from "../../identity/address-prefix.ts";
import { createCounts } from "../../scheduling/counts.ts";
import { anonymous } from "../../scheduling/settings.ts";
import { clientAddressKey } from "../call-origin.ts";
import type { CallHandler } from "../call-handler.ts";

interface StreamLimits {
  /** Of one address; of one /64 for IPv6. */
  readonly perAddress: number;
  readonly inAll: number;
  /** Aborted when the server is about to stop. Streams end by themselves then, unless their clients do not read. */
  readonly draining: AbortSignal;
  /** Called instead of the handler. Answers the request. */
  readonly onTooMany: (request: HttpRequest, response: HttpResponse, message: string) => void;
}

/**
 * As how many streams a stream of reflection counts for its address. It costs more memory: questions wait in it until earlier ones are
 * answered. Its clients ask a few questions and leave.
 */
const streamsOfReflection = 10;
const reflectionPrefix = "/grpc.reflection.";

/** How long clients may take to read the end of their streams. */
const unreadMs = 1_000;

/** For how long a stream goes on after its client has ended its side of the connection. */
const halfOpenMs = 1_000;

/** Bounds the open streams of clients without credentials: health Watches and reflection. */
export function createLimitStreams({
  perAddress,
  inAll,
  draining,
  onTooMany,
}: StreamLimits): (handler: CallHandler) => CallHandler {
  const ofNetworks = createCounts(perAddress);
  const open = new Map<HttpResponse, HttpRequest>();
  const cutAll = (): void => open.forEach((request, response) => cutRequest(request, response));
  draining.addEventListener("abort", () => setTimeout(cutAll, unreadMs).unref(), { once: true });
  return (handler) => (request, response, values) => {
    const address = values.get(clientAddressKey);
    const network = address === null ? "unknown" : networkOf(address);
    const refuse = (reached: string): void =>
      onTooMany(request, response, `${reached} already; close one, or call Check for the health of the server`);
    if (open.size >= inAll) return refuse(`the server has ${inAll} open streams`);
    const amount = request.url?.startsWith(reflectionPrefix) === true ? streamsOfReflection : 1;
    if (!ofNetworks.add(network, amount)) return refuse(`the address of the client has ${perAddress} open streams`);
    open.set(response, request);
    if (!isHttp2(response)) endWithInput(request, response);
    response.on("close", () => {
      ofNetworks.remove(network, amount);
      open.delete(response);
    });
    const waitMs = values.get(paceKey).take(anonymous.requestsOfStream);
    return handleLater(waitMs, response, () => handler(request, response, values));
  };
}

/**
 * Ends a stream over HTTP/1.1 soon after its client has ended its side of the connection. Whether the client has gone would show only
 * when something is sent to it. A Watch may have nothing to send for months, and would count as open for all that time.
 */
function endWithInput(request: HttpRequest, response: HttpResponse): void {
  const { socket } = request;
  let timer: NodeJS.Timeout | undefined;
  const onEnd = (): void => {
    timer = setTimeout(cutRequest, halfOpenMs, request, response);
  };
  if (socket.readableEnded) onEnd();
  else socket.once("end", onEnd);
  response.once("close", () => {
    socket.off("end", onEnd);
    clearTimeout(timer);
  });
}
