// What happens to every call before its handler, whatever protocol it came by. In this order: who calls, is the path a
// path, may they, and only then is the rest of the request looked at (AIP-211): whoever may not do something learns
// nothing from what they sent.
import { Code, ConnectError, type Interceptor, type StreamRequest, type UnaryRequest } from "@connectrpc/connect";
import type { Logger } from "pino";
import type { Authorise } from "../access/authorise.ts";
import { setCall } from "../access/call.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { Authenticate } from "../identity/authenticate.ts";
import { type Reference, parseResourcePath } from "../paths/resource-path.ts";
import { validateMessage } from "../resource/validate-message.ts";
import type { MethodRules, MethodTable, TargetField } from "./method-table.ts";
import { requestIdKey } from "./request-id.ts";
import { toConnectError, toServiceError } from "./to-connect-error.ts";

/** Answers whatever is thrown below as an error with `google.rpc` details, and logs what the service is to blame for. */
export function createErrorInterceptor(logger: Logger): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (thrown) {
      const ended = endedByCaller(thrown, request);
      if (ended === undefined && thrown instanceof ConnectError) throw thrown;
      const requestId = request.contextValues.get(requestIdKey);
      const error = ended ?? toServiceError(thrown);
      if (error.reason === "INTERNAL" || error.reason === "SERVICE_UNAVAILABLE") {
        const method = `${request.service.typeName}/${request.method.name}`;
        logger.error({ err: error.cause, requestId, method, reason: error.reason }, "call failed");
      }
      throw toConnectError(error, requestId);
    }
  };
}

/**
 * Answers as soon as a call's time is over or its caller has gone, and does not wait for a handler that notices later.
 * For the RPC lanes; REST does so by itself.
 */
export const endWithSignal: Interceptor = (next) => (request) =>
  new Promise((resolve, reject) => {
    const { signal } = request;
    const end = (): void => reject(ConnectError.from(signal.reason));
    signal.addEventListener("abort", end, { once: true });
    next(request)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", end));
  });

/** Authenticates, authorises and validates. */
export function createCallInterceptor(
  table: MethodTable,
  authenticate: Authenticate,
  authorise: Authorise,
): Interceptor {
  return (next) => async (request) => {
    const rules = table.get(request.method);
    if (rules === undefined) throw new Error(`${request.method.name} is not in the method table`);
    if (request.stream) throw new Error(`${rules.name} streams, which no rule covers`);
    const caller = await authenticate(request.header.get("authorization"));
    const target = targetOf(rules, request.message);
    await authorise(caller, rules.permission, target);
    validateMessage(request.method.input, request.message);
    setCall(request.contextValues, { caller, method: rules.name, target });
    return next(request);
  };
}

function targetOf({ target }: MethodRules, message: object): readonly Reference[] {
  if (target === undefined) return [];
  return parseResourcePath(target.pattern, readString(message, target), target.name, target.wildcards);
}

function readString(message: object, target: TargetField): string {
  return (message as Record<string, string>)[target.localName] ?? "";
}

/** A failure that only says that nobody waits for the answer any more. */
function endedByCaller(thrown: unknown, request: UnaryRequest | StreamRequest): ServiceError | undefined {
  if (thrown instanceof ServiceError || !request.signal.aborted) return undefined;
  return ConnectError.from(request.signal.reason).code === Code.DeadlineExceeded
    ? new ServiceError("DEADLINE_EXCEEDED", "the call took longer than it was given", { cause: thrown })
    : new ServiceError("REQUEST_CANCELLED", "the caller went away", { cause: thrown });
}
