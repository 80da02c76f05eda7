import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import { holdsBodySlot, leaveBodySlot } from "../../scheduling/body-slots.ts";
import { slices } from "../../scheduling/settings.ts";
import type { CallLength, TimeSlices } from "../../scheduling/time-slices.ts";
import { addressKeyOf } from "../call-origin.ts";
import type { ExplainError } from "../explain-error.ts";
import type { MethodTable } from "../method-table.ts";
import { findCallerAtGate } from "../request-gate.ts";

interface WaitingCall {
  readonly method: DescMethod;
  readonly signal: AbortSignal;
  readonly values: ContextValues;
}

/** Returns undefined if a call, whose body has been read, may run now, and otherwise a promise of its time slice. */
export type TakeSlice = (call: WaitingCall, bodyBytes: number) => Promise<void> | undefined;

/** @param table says how long the calls of a method are. */
export function createTakeSlice(table: MethodTable, timeSlices: TimeSlices, explain: ExplainError): TakeSlice {
  const lengthOf = (method: DescMethod, bodyBytes: number): CallLength => {
    if (bodyBytes > slices.maxShortBytes) return "large";
    return table.get(method)?.length === "short" ? "short" : "long";
  };
  return ({ method, signal, values }, bodyBytes) => {
    const taker = takerOf(values, bodyBytes);
    if (taker === undefined) {
      leaveBodySlot(values, bodyBytes);
      return undefined;
    }
    try {
      const slice = timeSlices.take({ orgId: taker, length: lengthOf(method, bodyBytes), signal });
      if (slice !== undefined && holdsBodySlot(values)) return slice.then(() => leaveBodySlot(values, bodyBytes));
      if (slice === undefined) leaveBodySlot(values, bodyBytes);
      return slice;
    } catch (thrown) {
      leaveBodySlot(values, bodyBytes);
      throw explain(thrown, { method, signal, values });
    }
  };
}

/**
 * Returns the key by which a call takes slices: its org or, if the caller is not known before the body is parsed, its address. Returns
 * undefined for health checks and reflection, whose messages are parsed already.
 */
function takerOf(values: ContextValues, bodyBytes: number): string | undefined {
  const caller = findCallerAtGate(values);
  if (caller !== undefined) return caller.orgId;
  return bodyBytes === 0 ? undefined : addressKeyOf(values);
}

/** Takes slices for calls whose messages are parsed before the interceptors run. */
export function createSliceInterceptor(takeSlice: TakeSlice): Interceptor {
  return (next) => async (request) => {
    await takeSlice({ method: request.method, signal: request.signal, values: request.contextValues }, 0);
    // When a call is aborted, its promise resolves without a slice.
    request.signal.throwIfAborted();
    return next(request);
  };
}
