import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";

/**
 * Returns the reason that the service gives for an error, for example `CLAIM_VOID`; undefined if the error is not from the
 * service. The code is not enough: clients also use ABORTED when a connection breaks.
 */
export function reasonOf(error: unknown): string | undefined {
  return ConnectError.from(error).findDetails(ErrorInfoSchema)[0]?.reason;
}

const transientReasons = new Set([undefined, "SERVICE_UNAVAILABLE", "DEADLINE_EXCEEDED", "RATE_LIMITED", "INTERNAL"]);

/** Whether the same call may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof ConnectError && transientReasons.has(reasonOf(error));
}

/** Returns what went wrong, and a remedy where the service cannot be used. */
export function explain(error: unknown, url: string): string {
  if (!(error instanceof ConnectError)) return String(error);
  const { rawMessage } = error;
  switch (reasonOf(error)) {
    case undefined:
      return `No service answers at ${url} (${rawMessage}). Start one, or give its address in TENANTRY_URL.`;
    case "TOKEN_MISSING":
    case "TOKEN_INVALID":
      return `The service refuses the API key: ${rawMessage}. Give another one in TENANTRY_API_KEY or TENANTRY_API_KEY_FILE.`;
    case "PERMISSION_DENIED":
      return `The member of the API key lacks a permission: ${rawMessage}`;
    default:
      return `The service answers: ${rawMessage}`;
  }
}
