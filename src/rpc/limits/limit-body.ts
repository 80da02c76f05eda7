import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import type { ExplainError } from "../explain-error.ts";
import { findCallerAtGate } from "../request-gate.ts";
import { requestIdKey } from "../request-id-key.ts";
import { type BodyPlaces, leaveBodyPlace } from "./body-places.ts";

/** What the body of a call that passed the gate may take. */
interface BodyLimits {
  readonly maxBytes: number;
  readonly freeBytes?: number;
  readonly makeRoom?: () => Promise<void> | undefined;
  readonly leaveRoom?: () => void;
}

export type LimitBody = (context: Pick<HandlerContext, "method" | "signal" | "values">) => BodyLimits;

/** Callers without credentials send tokens, which are shorter. */
export const maxAnonymousBytes = 16_384;

/** Only batches, of some hundred items, are longer. */
const freeBytes = 65_536;

/** @param maxBytes the maximum size of a body, before and after decompression. */
export function createLimitBody(maxBytes: number, places: BodyPlaces, explain: ExplainError): LimitBody {
  return ({ method, signal, values }) => {
    const caller = findCallerAtGate(values);
    if (caller === undefined) return { maxBytes: Math.min(maxBytes, maxAnonymousBytes) };
    const explained = (thrown: unknown): ConnectError => explain(thrown, method, signal, values.get(requestIdKey));
    return {
      maxBytes,
      freeBytes,
      makeRoom: () =>
        places.take(caller, { signal, values })?.catch((thrown: unknown) => {
          throw explained(thrown);
        }),
      leaveRoom: () => leaveBodyPlace(values),
    };
  };
}
