import { quote, RestError } from "../errors/rest-error.ts";
import type { RestRequest } from "./call-context.ts";

const msPerUnit: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * How long the caller gives the call, in milliseconds: the shorter of `Grpc-Timeout` (gRPC's own form: at most eight
 * digits and a unit) and `X-Server-Timeout` (seconds, as Google's APIs take it); undefined when neither is there.
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
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const ms = Number(digits) * (msPerUnit[unit] ?? Number.NaN);
  if (!Number.isNaN(ms)) return ms;
  throw new RestError("HEADER_INVALID", `Grpc-Timeout must be digits and one of H, M, S, m, u, n, got ${quote(text)}`);
}

function readSeconds(text: string): number {
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text) * 1000;
  throw new RestError("HEADER_INVALID", `X-Server-Timeout must be seconds such as 2.5, got ${quote(text)}`);
}
