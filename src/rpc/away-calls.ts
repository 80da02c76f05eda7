// Calls that were authenticated from memory, because the database is away. Only when the message is there is it known how old the answer may
// be. If it may not be as old as that, the call goes on as any other, and fails for as long as the database is away.
import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
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
    const since = findCallerAtGate(values)?.staleSince;
    if (since === undefined || request.stream) return next(request);
    if (!isAllowed(request.message, since)) {
      await authenticateBy(values, () => authenticate(header.get("authorization"), values.get(clientAddressKey)));
      return next(request);
    }
    const response = await next(request);
    onAnswer();
    return response;
  };
}
