import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import type { Turns } from "../../turns/turns.ts";
import { leaveBodyPlace } from "./body-places.ts";
import type { ExplainError } from "../explain-error.ts";
import { findCallerAtGate } from "../request-gate.ts";
import { requestIdKey } from "../request-id-key.ts";

interface WaitingCall {
  readonly method: DescMethod;
  readonly signal: AbortSignal;
  readonly values: ContextValues;
}

/** Returns undefined when a call that passed the gate may run now, and otherwise a promise of its turn. Its body has been read. */
export type TakeTurn = (call: WaitingCall, bodyBytes: number) => Promise<void> | undefined;

/**
 * Calls of methods for one resource or one question, which take a tenth of a millisecond or so. The others go through as many
 * items as their callers choose.
 */
const shortCalls = /^(?:(?:Get|Create|Update|Delete|Undelete|Suspend|Resume|Activate|Check)[A-Z]\w*|Evaluate)$/;

/** A longer body takes long to parse. */
const maxShortBytes = 16_384;

/** Reports whether calls of a method run without a turn, while those of one turn of the event loop take no long time together. */
export function isShort({ name }: Pick<DescMethod, "name">): boolean {
  return shortCalls.test(name);
}

export function createTakeTurn(turns: Turns, explain: ExplainError): TakeTurn {
  return ({ method, signal, values }, bodyBytes) => {
    const caller = findCallerAtGate(values);
    if (caller === undefined) return undefined;
    const { orgId } = caller;
    try {
      const turn = turns.take(orgId, isShort(method) && bodyBytes <= maxShortBytes ? "short" : "long");
      if (bodyBytes <= maxShortBytes) return turn;
      if (turn !== undefined) return turn.then(() => leaveBodyPlace(values));
      leaveBodyPlace(values);
      return undefined;
    } catch (thrown) {
      throw explain(thrown, method, signal, values.get(requestIdKey));
    }
  };
}

/** Takes a turn where the message is parsed before. */
export function createTurnInterceptor(takeTurn: TakeTurn): Interceptor {
  return (next) => async (request) => {
    await takeTurn({ method: request.method, signal: request.signal, values: request.contextValues }, 0);
    return next(request);
  };
}
