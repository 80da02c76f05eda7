import { durationMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/**
 * Returns the requested delay before a retry, in milliseconds: from `google.rpc.RetryInfo`, which the service sends, or from
 * the `Retry-After` of a proxy. Undefined if there is none, or only a date.
 */
export function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const [info] = error.findDetails(RetryInfoSchema);
  if (info?.retryDelay !== undefined) return durationMs(info.retryDelay);
  const header = error.metadata.get("retry-after");
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : undefined;
}
