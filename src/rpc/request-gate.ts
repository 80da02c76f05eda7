import { type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";
import { impersonatorOf } from "../access/tokens/impersonation.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { Authenticate } from "../identity/authenticate.ts";
import type { Caller } from "../identity/caller.ts";
import { addressKeyOf, clientAddressKey } from "./call-origin.ts";
import type { ExplainError } from "./explain-error.ts";
import type { MethodTable } from "./method-table.ts";
import type { CountCall } from "./limits/rate-limits.ts";
import type { PaceRefusal } from "./limits/refusal-pace.ts";
import { requestIdKey } from "./request-id-key.ts";

const callerKey = createContextKey<Caller | undefined>(undefined, { description: "the caller" });

/**
 * Authenticates the caller and counts the call against rate limits, before the body is read. Methods that are not in the table (health and reflection), and those whose request contains the credential, need no
 * authentication. Refusals come at a pace.
 *
 * @param countCall undefined if there are no limits.
 */
export function createRequestGate(
  table: MethodTable,
  authenticate: Authenticate,
  countCall: CountCall | undefined,
  explain: ExplainError,
  paceRefusal: PaceRefusal,
): (context: HandlerContext) => Promise<void> {
  return async (context) => {
    const { method, requestHeader, responseHeader, values } = context;
    const rules = table.get(method);
    if (rules === undefined || rules.unauthenticated) return;
    /** Throws when a refusal of these callers may come. */
    const refuse = async (thrown: unknown, callers: string): Promise<never> => {
      if (isRefusal(thrown)) await paceRefusal(callers, () => context.signal);
      throw explain(thrown, method, context.signal, values.get(requestIdKey));
    };
    let caller: Caller;
    try {
      caller = await authenticate(requestHeader.get("authorization"), values.get(clientAddressKey));
    } catch (thrown) {
      return refuse(thrown, addressKeyOf(values));
    }
    values.set(callerKey, caller);
    if (countCall === undefined) return;
    // What an impersonator does counts as its own calls.
    const counted = impersonatorOf(caller) ?? caller;
    const { refusal, fields } = countCall(counted, rules.reads);
    for (const [name, value] of fields) responseHeader.set(name, value);
    if (refusal !== undefined) await refuse(refusal, counted.orgId);
  };
}

/** Reports whether a call failed because of its caller. */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof ServiceError && thrown.reason !== "SERVICE_UNAVAILABLE";
}

/** Returns the caller of a call that passed the gate; undefined if its method needs no authentication. */
export function findCallerAtGate(values: ContextValues): Caller | undefined {
  return values.get(callerKey);
}

/** Returns the caller of a call that passed the gate. */
export function callerAtGate(values: ContextValues): Caller {
  const caller = findCallerAtGate(values);
  if (caller === undefined) throw new Error("the call did not pass the gate");
  return caller;
}
