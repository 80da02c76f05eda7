// What happens to every call before its handler, whatever protocol it came by. In this order: who calls (at the gate,
// before the body is read), is the path a path, may they, and only then is the rest of the request looked at (AIP-211):
// whoever may not do something learns nothing from what they sent.
import type { Interceptor } from "@connectrpc/connect";
import type { Authorise } from "../access/authorise.ts";
import { setCall } from "../access/call.ts";
import { type AnyPath, parseAnyPath } from "../paths/resource-path.ts";
import { validateMessage } from "../resource/validate-message.ts";
import type { ExplainError } from "./explain-error.ts";
import { callerAtGate } from "./request-gate.ts";
import type { MethodRules, MethodTable, TargetField } from "./method-table.ts";
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
    const { references: target, pattern } = targetOf(rules, request.message);
    await authorise(caller, rules.permission, target);
    validateMessage(request.method.input, request.message);
    setCall(request.contextValues, { caller, method: rules.name, target, pattern });
    return next(request);
  };
}

function targetOf({ target }: MethodRules, message: object): AnyPath {
  if (target === undefined) return { pattern: [], references: [] };
  return parseAnyPath(target.patterns, readString(message, target), target.name, target.wildcards);
}

function readString(message: object, target: TargetField): string {
  return (message as Record<string, string>)[target.localName] ?? "";
}
