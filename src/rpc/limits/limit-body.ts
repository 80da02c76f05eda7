import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import type { ExplainError } from "../explain-error.ts";
import { findCallerAtGate } from "../request-gate.ts";
import { addressKeyOf } from "../call-origin.ts";
import { requestIdKey } from "../request-id-key.ts";
import { createBodyPlaces, leaveBodyPlace } from "./body-places.ts";

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
export function createLimitBody(maxBytes: number, explain: ExplainError): LimitBody {
  const ofOrgs = createBodyPlaces();
  // Of those without credentials, whose bodies wait only to be decompressed. Addresses are many, so they take no place of an org.
  const ofAddresses = createBodyPlaces();
  return ({ method, signal, values }) => {
    const known = findCallerAtGate(values);
    const caller = known ?? { orgId: addressKeyOf(values), memberId: addressKeyOf(values) };
    const places = known === undefined ? ofAddresses : ofOrgs;
    const explained = (thrown: unknown): ConnectError => explain(thrown, method, signal, values.get(requestIdKey));
    return {
      maxBytes: known === undefined ? Math.min(maxBytes, maxAnonymousBytes) : maxBytes,
      freeBytes,
      makeRoom: () =>
        places.take(caller, { signal, values })?.catch((thrown: unknown) => {
          throw explained(thrown);
        }),
      leaveRoom: () => leaveBodyPlace(values),
    };
  };
}
