import { type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { Authenticate } from "../identity/authenticate.ts";
import type { Caller } from "../identity/caller.ts";
import { untilAborted } from "./end-with-signal.ts";
import type { ExplainError } from "./explain-error.ts";
import type { MethodTable } from "./method-table.ts";
import { requestIdKey } from "./request-id.ts";

const callerKey = createContextKey<Caller | undefined>(undefined, { description: "who calls" });

/**
 * Finds out who calls, before anything of the request's body is read. Methods that are not in the table, health and
 * reflection, are for anybody.
 */
export function createRequestGate(
  table: MethodTable,
  authenticate: Authenticate,
  explain: ExplainError,
): (context: HandlerContext) => Promise<void> {
  return async ({ method, requestHeader, signal, values }) => {
    if (table.get(method) === undefined) return;
    try {
      const caller = authenticate(requestHeader.get("authorization"));
      values.set(callerKey, await untilAborted(signal, caller));
    } catch (thrown) {
      throw explain(thrown, method, signal, values.get(requestIdKey));
    }
  };
}

/** Whom the gate has let in. */
export function callerAtGate(values: ContextValues): Caller {
  const caller = values.get(callerKey);
  if (caller === undefined) throw new Error("the call did not come through the gate");
  return caller;
}
