import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Logger } from "pino";
import { ServiceError } from "../errors/service-error.ts";
import { toConnectError, toServiceError } from "./to-connect-error.ts";

/** Converts a thrown value to an error with `google.rpc` details, and logs failures of the service. */
export type ExplainError = (
  thrown: unknown,
  method: DescMethod,
  signal: AbortSignal,
  requestId: string,
) => ConnectError;

export function createExplainError(logger: Logger): ExplainError {
  return (thrown, method, signal, requestId) => {
    const ended = endedByCaller(thrown, signal);
    if (ended === undefined && thrown instanceof ConnectError) return thrown;
    const error = ended ?? toServiceError(thrown);
    if (error.reason === "INTERNAL" || error.reason === "SERVICE_UNAVAILABLE") {
      const name = `${method.parent.typeName}/${method.name}`;
      logger.error({ err: error.cause, requestId, method: name, reason: error.reason }, "call failed");
    }
    return toConnectError(error, requestId);
  };
}

/** Returns an error for a failure that only means that the caller no longer waits for the response. */
function endedByCaller(thrown: unknown, signal: AbortSignal): ServiceError | undefined {
  if (thrown instanceof ServiceError || !signal.aborted) return undefined;
  return ConnectError.from(signal.reason).code === Code.DeadlineExceeded
    ? new ServiceError("DEADLINE_EXCEEDED", "the call exceeded its timeout", { cause: thrown })
    : new ServiceError("REQUEST_CANCELLED", "the caller has disconnected", { cause: thrown });
}
