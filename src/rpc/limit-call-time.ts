import { constants } from "node:http2";
import { type HttpRequest, type HttpResponse, isHttp2 } from "../http/handler.ts";

/** How long an answer that says DEADLINE_EXCEEDED may take to be sent. */
const answerMs = 1000;

const grpcUnits: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Bounds how long an RPC may take, its body included. A client's own deadline counts where it is shorter; a longer one,
 * or none, is cut to `timeoutMs`, and Connect answers DEADLINE_EXCEEDED when it is over. A call that goes on all the same,
 * because its body never ends for example, loses its stream or connection.
 */
export function limitCallTime(request: HttpRequest, response: HttpResponse, timeoutMs: number): void {
  const { headers } = request;
  if (headers["content-type"]?.startsWith("application/grpc") === true) {
    const given = headers["grpc-timeout"];
    if (!isShorter(typeof given === "string" ? readGrpcTimeout(given) : undefined, timeoutMs)) {
      headers["grpc-timeout"] = `${timeoutMs}m`;
    }
  } else {
    const given = headers["connect-timeout-ms"];
    if (!isShorter(typeof given === "string" ? Number(given) : undefined, timeoutMs)) {
      headers["connect-timeout-ms"] = String(timeoutMs);
    }
  }
  const timer = setTimeout(cut, timeoutMs + answerMs, request, response);
  response.once("close", () => clearTimeout(timer));
}

/** False for no timeout; true for one that is no number, which Connect refuses. */
function isShorter(givenMs: number | undefined, timeoutMs: number): boolean {
  return givenMs !== undefined && !(givenMs > timeoutMs);
}

/** In milliseconds; NaN when it is none. */
function readGrpcTimeout(text: string): number {
  return Number(text.slice(0, -1)) * (grpcUnits[text.slice(-1)] ?? Number.NaN);
}

function cut(request: HttpRequest, response: HttpResponse): void {
  if (isHttp2(response)) response.stream.close(constants.NGHTTP2_CANCEL);
  else request.socket.destroy();
}
