import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import { impersonatorOf } from "../access/tokens/impersonation.ts";
import type { Turns } from "../turns/turns.ts";
import type { ExplainError } from "./explain-error.ts";
import { findCallerAtGate } from "./request-gate.ts";
import { requestIdKey } from "./request-id-key.ts";

interface WaitingCall {
  readonly method: DescMethod;
  readonly signal: AbortSignal;
  readonly values: ContextValues;
}

/** Returns undefined when a call that passed the gate may run now, and otherwise a promise of its turn. */
export type TakeTurn = (call: WaitingCall) => Promise<void> | undefined;

/**
 * Calls of methods for one resource or one question, which take a tenth of a millisecond or so: as long as it takes to wait for a
 * turn. The others go through as many items as their callers choose.
 */
const shortCalls = /^(?:(?:Get|Create|Update|Delete|Undelete|Suspend|Resume|Activate|Check)[A-Z]\w*|Evaluate)$/;

export function createTakeTurn(turns: Turns, explain: ExplainError): TakeTurn {
  return ({ method, signal, values }) => {
    const caller = shortCalls.test(method.name) ? undefined : findCallerAtGate(values);
    if (caller === undefined) return undefined;
    try {
      // What an impersonator does counts as its own calls.
      return turns.take((impersonatorOf(caller) ?? caller).orgId);
    } catch (thrown) {
      throw explain(thrown, method, signal, values.get(requestIdKey));
    }
  };
}

/** Takes a turn where the message is parsed before. */
export function createTurnInterceptor(takeTurn: TakeTurn): Interceptor {
  return (next) => async (request) => {
    await takeTurn({ method: request.method, signal: request.signal, values: request.contextValues });
    return next(request);
  };
}
