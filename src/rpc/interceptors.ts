// What happens to every call before its handler, whatever protocol it came by. In this order: who calls (at the gate,
// before the body is read), is the path a path, may they, and only then is the rest of the request looked at (AIP-211):
// those who may not do something learn nothing from what they sent.
import type { Interceptor } from "@connectrpc/connect";
import type { Authorise, Authorised } from "../access/authorise.ts";
import { setCall } from "../access/call.ts";
import { type ResolvedTarget, onPlatform } from "../access/evaluation/resolved-target.ts";
import type { AnyPath } from "../paths/resource-path.ts";
import { validateMessage } from "../resource/validate-message.ts";
import type { ExplainError } from "./explain-error.ts";
import { callerAtGate } from "./request-gate.ts";
import type { MethodTable } from "./method-table.ts";
import { type RequestFields, readAnyPaths, readTarget } from "./read-paths.ts";
import { requestIdKey } from "./request-id.ts";

/** Answers whatever is thrown below as `explain` has it. */
export function createErrorInterceptor(explain: ExplainError): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (thrown) {
      throw explain(thrown, request.method, request.signal, request.contextValues.get(requestIdKey));
    }
  };
}

/** Authorises and validates what the gate has let in. */
export function createCallInterceptor(table: MethodTable, authorise: Authorise): Interceptor {
  return (next) => async (request) => {
    const rules = table.get(request.method);
    if (rules === undefined) throw new Error(`${request.method.name} is not in the method table`);
    if (request.stream) throw new Error(`${rules.name} streams, which no rule covers`);
    const caller = callerAtGate(request.contextValues);
    const message = request.message as unknown as RequestFields;
    const { permission, createPermission, trims, target, anyPath } = rules;
    let authorised = untargeted;
    if (permission !== undefined && anyPath !== undefined) {
      await authorise.all(caller, permission, readAnyPaths(anyPath, message));
    } else if (permission !== undefined) {
      authorised = await authorise(caller, { permission, trims }, readTarget(target, message));
    }
    if (createPermission !== undefined && message["allowMissing"] === true) {
      // Who may only change what is there must not make it: whether it is there shows only when that is done.
      await authorise(caller, { permission: createPermission, trims: "never" }, parentOf(authorised.target));
    }
    validateMessage(request.method.input, request.message);
    setCall(request.contextValues, { caller, method: rules.name, ...authorised });
    return next(request);
  };
}

/** Of what anyone may call, and of questions: their handlers act on no path. */
const untargeted: Authorised = { target: onPlatform };

/** By the ids of what the call was authorised on: names may change hands until the handler acts on it. */
function parentOf({ pattern, references }: ResolvedTarget): AnyPath {
  return { pattern: pattern.slice(0, -1), references: references.slice(0, -1) };
}
