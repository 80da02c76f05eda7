import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Logger } from "pino";
import { ServiceError } from "../errors/service-error.ts";
import { toConnectError, toServiceError } from "./to-connect-error.ts";

/** Makes of whatever is thrown an error with `google.rpc` details, and logs what the service is to blame for. */
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

/** A failure that only says that nobody waits for the answer any more. */
function endedByCaller(thrown: unknown, signal: AbortSignal): ServiceError | undefined {
  if (thrown instanceof ServiceError || !signal.aborted) return undefined;
  return ConnectError.from(signal.reason).code === Code.DeadlineExceeded
    ? new ServiceError("DEADLINE_EXCEEDED", "the call took longer than it was given", { cause: thrown })
    : new ServiceError("REQUEST_CANCELLED", "the caller went away", { cause: thrown });
}
