import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import type { CallLength, Turns } from "../../turns/turns.ts";
import { holdsBodyPlace, leaveBodyPlace } from "./body-places.ts";
import { addressKeyOf } from "../call-origin.ts";
import type { ExplainError } from "../explain-error.ts";
import type { MethodTable } from "../method-table.ts";
import { findCallerAtGate } from "../request-gate.ts";
import { requestIdKey } from "../request-id-key.ts";

interface WaitingCall {
  readonly method: DescMethod;
  readonly signal: AbortSignal;
  readonly values: ContextValues;
}

/** Returns undefined when a call that passed the gate may run now, and otherwise a promise of its turn. Its body has been read. */
export type TakeTurn = (call: WaitingCall, bodyBytes: number) => Promise<void> | undefined;

/** A longer body takes long to parse. */
const maxShortBytes = 16_384;

/** @param table says which methods are short, whose calls run at once unless many come together. */
export function createTakeTurn(table: MethodTable, turns: Turns, explain: ExplainError): TakeTurn {
  const lengthOf = (method: DescMethod, bodyBytes: number): CallLength => {
    if (bodyBytes > maxShortBytes) return "large";
    return table.get(method)?.isShort === true ? "short" : "long";
  };
  return ({ method, signal, values }, bodyBytes) => {
    const taker = takerOf(values, bodyBytes);
    if (taker === undefined) {
      leaveBodyPlace(values, bodyBytes);
      return undefined;
    }
    try {
      const turn = turns.take(taker, lengthOf(method, bodyBytes), signal);
      if (turn !== undefined && holdsBodyPlace(values)) return turn.then(() => leaveBodyPlace(values, bodyBytes));
      if (turn === undefined) leaveBodyPlace(values, bodyBytes);
      return turn;
    } catch (thrown) {
      leaveBodyPlace(values, bodyBytes);
      throw explain(thrown, method, signal, values.get(requestIdKey));
    }
  };
}

/**
 * Returns whose turn it is: that of an org, or of an address where the caller is not known before the body is parsed. Health checks
 * and reflection, whose messages are parsed before, need none.
 */
function takerOf(values: ContextValues, bodyBytes: number): string | undefined {
  const caller = findCallerAtGate(values);
  if (caller !== undefined) return caller.orgId;
  return bodyBytes === 0 ? undefined : addressKeyOf(values);
}

/** Takes a turn where the message is parsed before. */
export function createTurnInterceptor(takeTurn: TakeTurn): Interceptor {
  return (next) => async (request) => {
    await takeTurn({ method: request.method, signal: request.signal, values: request.contextValues }, 0);
    // A call that is aborted leaves its queue without a turn.
    request.signal.throwIfAborted();
    return next(request);
  };
}
