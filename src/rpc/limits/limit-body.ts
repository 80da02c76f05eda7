import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import type { ExplainError } from "../explain-error.ts";
import { findCallerAtGate } from "../request-gate.ts";
import { addressKeyOf } from "../call-origin.ts";
import { type BodySlots, createBodySlots, leaveBodySlot } from "../../scheduling/body-slots.ts";
import { bodies } from "../../scheduling/settings.ts";

/** What the body of a call that passed the gate may take. */
interface BodyLimits {
  readonly maxBytes: number;
  readonly freeBytes?: number;
  readonly makeRoom?: () => Promise<void> | undefined;
  readonly leaveRoom?: () => void;
}

export type LimitBody = (context: Pick<HandlerContext, "method" | "signal" | "values">) => BodyLimits;

/**
 * @param ofOrgs the slots that orgs share.
 * @param maxBytes the maximum size of a body, before and after decompression.
 */
export function createLimitBody(ofOrgs: BodySlots, maxBytes: number, explain: ExplainError): LimitBody {
  // Bodies without credentials have slots apart from those that orgs share. Only compressed ones are long enough to need one.
  const ofAddresses = createBodySlots();
  return ({ method, signal, values }) => {
    const known = findCallerAtGate(values);
    const caller = known ?? { orgId: addressKeyOf(values), memberId: addressKeyOf(values) };
    const slots = known === undefined ? ofAddresses : ofOrgs;
    const explained = (thrown: unknown): ConnectError => explain(thrown, { method, signal, values });
    return {
      maxBytes: known === undefined ? Math.min(maxBytes, bodies.maxAnonymousBytes) : maxBytes,
      freeBytes: bodies.freeBytes,
      makeRoom: () =>
        slots.take(caller, { signal, values })?.catch((thrown: unknown) => {
          throw explained(thrown);
        }),
      leaveRoom: () => leaveBodySlot(values),
    };
  };
}
