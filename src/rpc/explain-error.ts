import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues } from "@connectrpc/connect";
import type { Logger } from "pino";
import { callRecordKey } from "../http/call-record.ts";
import { OrgLockedError } from "../database/failure.ts";
import { ServiceError } from "../errors/service-error.ts";
import { statusOf } from "../rest/errors/status-codes.ts";
import { requestIdKey } from "./request-id-key.ts";
import { toConnectError, toServiceError } from "./to-connect-error.ts";

/** Converts a thrown value to an error with `google.rpc` details, and logs failures of the service. */
export type ExplainError = (
  thrown: unknown,
  call: { readonly method: DescMethod; readonly signal: AbortSignal; readonly values: ContextValues },
) => ConnectError;

export function createExplainError(logger: Logger): ExplainError {
  return (thrown, { method, signal, values }) => {
    const requestId = values.get(requestIdKey);
    const ended = endedByCaller(thrown, signal);
    if (ended === undefined && thrown instanceof ConnectError) return recorded(thrown, values);
    const error = ended ?? toServiceError(thrown);
    if (error.reason === "INTERNAL" || error.reason === "SERVICE_UNAVAILABLE") {
      const name = `${method.parent.typeName}/${method.name}`;
      const trace = values.get(callRecordKey)?.trace;
      const ids = trace && { trace_id: trace.traceId, span_id: trace.span?.spanId };
      // That a write waits in vain for other writes is no failure of the service.
      const level = error.cause instanceof OrgLockedError ? "warn" : "error";
      logger[level]({ err: error.cause, requestId, ...ids, method: name, reason: error.reason }, "call failed");
    }
    return recorded(toConnectError(error, requestId), values);
  };
}

/** Notes an error in the record of its call. Returns the error. */
export function recorded(error: ConnectError, values: ContextValues): ConnectError {
  const record = values.get(callRecordKey);
  if (record !== undefined) record.failure = statusOf(error.code);
  return error;
}

/** Returns an error for a failure that only means that the caller no longer waits for the response. */
function endedByCaller(thrown: unknown, signal: AbortSignal): ServiceError | undefined {
  if (thrown instanceof ServiceError || !signal.aborted) return undefined;
  return ConnectError.from(signal.reason).code === Code.DeadlineExceeded
    ? new ServiceError("DEADLINE_EXCEEDED", "the call exceeded its timeout", { cause: thrown })
    : new ServiceError("REQUEST_CANCELLED", "the caller has disconnected", { cause: thrown });
}
