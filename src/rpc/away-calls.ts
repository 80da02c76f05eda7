// Calls that were authenticated from memory, because the database is away. Only when the message is there is it known how old the answer may
// be. If it may not be as old as that, the call goes on as any other, and fails for as long as the database is away. So it does if its caller is
// refused: access may have been granted that memory does not know of.
import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { ServiceError } from "../errors/service-error.ts";
import type { Authenticate } from "../identity/authenticate.ts";
import { clientAddressKey } from "./call-origin.ts";
import { authenticateBy, findCallerAtGate } from "./request-gate.ts";

interface AwayCalls {
  /** Authenticates by the database. */
  readonly authenticate: Authenticate;
  /** Whether what was last known at a time, in milliseconds, may answer a request. */
  readonly isAllowed: (message: Message, knownTime: number) => boolean;
  /** Called when a call has been answered from memory. */
  readonly onAnswer: () => void;
}

export function createAwayInterceptor({ authenticate, isAllowed, onAnswer }: AwayCalls): Interceptor {
  return (next) => async (request) => {
    const { contextValues: values, header } = request;
    if (request.stream) return next(request);
    const since = (): number | undefined => findCallerAtGate(values)?.staleSince;
    const exactly = async () => {
      await authenticateBy(values, () => authenticate(header.get("authorization"), values.get(clientAddressKey)));
      return next(request);
    };
    const sinceGate = since();
    if (sinceGate !== undefined && !isAllowed(request.message, sinceGate)) return exactly();
    try {
      const response = await next(request);
      if (since() !== undefined) onAnswer();
      return response;
    } catch (error) {
      if (since() !== undefined && isRefusal(error)) return exactly();
      throw error;
    }
  };
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.reason === "PERMISSION_DENIED" || error.reason === "RESOURCE_NOT_FOUND")
  );
}
