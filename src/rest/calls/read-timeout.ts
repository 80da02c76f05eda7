import { parseTimeout } from "@connectrpc/connect/protocol-grpc";
import { quote, RestError } from "../errors/rest-error.ts";
import type { RestRequest } from "./call-context.ts";

/**
 * Returns the timeout that the caller requests, in milliseconds: the shorter of `Grpc-Timeout` (at most eight digits and
 * a unit, as in gRPC) and `X-Server-Timeout` (seconds, as in Google's APIs). Returns undefined if neither header is set.
 *
 * @throws RestError HEADER_INVALID
 */
export function readTimeout({ headers }: RestRequest): number | undefined {
  const grpc = headers["grpc-timeout"];
  const server = headers["x-server-timeout"];
  if (grpc === undefined && server === undefined) return undefined;
  return Math.min(
    grpc === undefined ? Number.POSITIVE_INFINITY : readGrpcTimeout(String(grpc)),
    server === undefined ? Number.POSITIVE_INFINITY : readSeconds(String(server)),
  );
}

function readGrpcTimeout(text: string): number {
  const { timeoutMs } = parseTimeout(text, Number.POSITIVE_INFINITY);
  if (timeoutMs !== undefined) return timeoutMs;
  throw new RestError("HEADER_INVALID", `Grpc-Timeout must be digits and one of H, M, S, m, u, n, got ${quote(text)}`);
}

function readSeconds(text: string): number {
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text) * 1000;
  throw new RestError("HEADER_INVALID", `X-Server-Timeout must be seconds such as 2.5, got ${quote(text)}`);
}
