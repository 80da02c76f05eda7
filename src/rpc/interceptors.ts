// What happens to every call before its handler, whatever protocol it came by. In this order: who calls (at the gate,
// before the body is read), is the path a path, may they, and only then is the rest of the request looked at (AIP-211):
// those who may not do something learn nothing from what they sent.
import type { Interceptor } from "@connectrpc/connect";
import type { Authorise, Authorised } from "../access/authorise.ts";
import { setCall } from "../access/call.ts";
import { type ResolvedTarget, onPlatform } from "../access/evaluation/resolved-target.ts";
import { type TargetPath, parseTargetPath } from "../access/evaluation/target-path.ts";
import type { Caller } from "../identity/caller.ts";
import { type AnyPath, parseAnyPath } from "../paths/resource-path.ts";
import { validateMessage } from "../resource/validate-message.ts";
import type { ExplainError } from "./explain-error.ts";
import { callerAtGate } from "./request-gate.ts";
import type { MethodRules } from "./method-rules.ts";
import type { MethodTable } from "./method-table.ts";
import type { AnyPathField, TargetField } from "./path-fields.ts";
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
    const message = request.message as unknown as Fields;
    const authorised = await authoriseCall(authorise, caller, rules, message);
    const { createPermission } = rules;
    if (createPermission !== undefined && message["allowMissing"] === true) {
      // Who may only change what is there must not make it: whether it is there shows only when that is done.
      await authorise(caller, { permission: createPermission, trims: "never" }, parentOf(authorised.target));
    }
    validateMessage(request.method.input, request.message);
    setCall(request.contextValues, { caller, method: rules.name, ...authorised });
    return next(request);
  };
}

const ofAnyone: Authorised = { target: onPlatform };

async function authoriseCall(
  authorise: Authorise,
  caller: Caller,
  { permission, trims, target, anyPath }: MethodRules,
  message: Fields,
): Promise<Authorised> {
  if (permission === undefined) return ofAnyone;
  if (anyPath === undefined) return authorise(caller, { permission, trims }, readTarget(target, message));
  await authorise.all(caller, permission, readAnyPaths(anyPath, message));
  return ofAnyone;
}

/** By the ids of what the call was authorised on: names may change hands until the handler acts on it. */
function parentOf({ pattern, references }: ResolvedTarget): AnyPath {
  return { pattern: pattern.slice(0, -1), references: references.slice(0, -1) };
}

const maxPaths = 1000;

/** Each path that a question is about, once. */
function readAnyPaths(field: AnyPathField, message: Fields): TargetPath[] {
  const { listName, messageName, localName } = field;
  // More than may be asked at once are refused afterwards.
  const items = listName === undefined ? [] : (message[listName] as Fields[]).slice(0, maxPaths);
  const isAlone = listName === undefined || (items.length === 0 && messageName !== undefined);
  const paths = new Map<string, TargetPath>();
  for (const [index, item] of (isAlone ? [message] : items).entries()) {
    const holder =
      messageName === undefined ? item : ((item[messageName] ?? message[messageName]) as Fields | undefined);
    const path = (holder?.[localName] ?? "") as string;
    // A message that is left out, or says nothing, is about nothing; whether it may is looked at with the rest of the request.
    if (paths.has(path) || (messageName !== undefined && path === "")) continue;
    paths.set(path, parseTargetPath(path, nameOf(field, isAlone ? undefined : index)));
  }
  return [...paths.values()];
}

/** @param index of the item that holds the field, if one does. */
function nameOf({ listName, messageName, name }: AnyPathField, index: number | undefined): string {
  const item = index === undefined ? "" : `${listName}[${index}].`;
  return `${item}${messageName === undefined ? "" : `${messageName}.`}${name}`;
}

type Fields = Readonly<Record<string, unknown>>;

function readTarget(target: TargetField | undefined, message: Fields): AnyPath {
  if (target === undefined) return onPlatform;
  return parseAnyPath(target.patterns, (message[target.localName] ?? "") as string, target.name, target.wildcards);
}
