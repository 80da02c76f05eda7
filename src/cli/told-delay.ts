import { durationMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";

/**
 * How long whoever refused a call says to wait, in milliseconds: the service in `google.rpc.RetryInfo`, what stands
 * before it in `Retry-After`. Undefined when nothing is said, or only a date.
 */
export function toldDelayMs(error: unknown): number | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const [info] = error.findDetails(RetryInfoSchema);
  if (info?.retryDelay !== undefined) return durationMs(info.retryDelay);
  const header = error.metadata.get("retry-after");
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : undefined;
}
