// What happens to every call before its handler, whatever protocol it came by. In this order: who calls (at the gate,
// before the body is read), is the path a path, may they, and only then is the rest of the request looked at (AIP-211):
// whoever may not do something learns nothing from what they sent.
import type { Interceptor } from "@connectrpc/connect";
import type { Authorise } from "../access/authorise.ts";
import { setCall } from "../access/call.ts";
import { parsePlace } from "../access/parse-place.ts";
import { pinPath } from "../access/pin-path.ts";
import { type Place, placeOf } from "../access/place.ts";
import type { Caller } from "../identity/caller.ts";
import { type AnyPath, parseAnyPath } from "../paths/resource-path.ts";
import { validateMessage } from "../resource/validate-message.ts";
import type { ExplainError } from "./explain-error.ts";
import { callerAtGate } from "./request-gate.ts";
import type { MethodRules, MethodTable, PlaceField, TargetField } from "./method-table.ts";
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
    const path = targetOf(rules, request.message);
    const { pattern } = path;
    const { visible, resource } = await authoriseAll(authorise, caller, rules, request.message, path);
    // Names may change hands until the handler acts on it.
    const target = pinPath(path, resource);
    await authoriseCreation(authorise, caller, rules, request.message, { pattern, references: target });
    validateMessage(request.method.input, request.message);
    setCall(request.contextValues, { caller, method: rules.name, target, pattern, visible });
    return next(request);
  };
}

async function authoriseAll(
  authorise: Authorise,
  caller: Caller,
  { permission, trims, places }: MethodRules,
  message: object,
  { pattern, references }: AnyPath,
): ReturnType<Authorise> {
  if (permission === undefined) return {};
  if (places === undefined) return authorise(caller, { permission, trims }, placeOf(pattern, references));
  await authorise.all(caller, permission, readPlaces(places, message));
  return {};
}

/** Whoever may only change what is there must not make it: whether it is there shows only when that is done. */
async function authoriseCreation(
  authorise: Authorise,
  caller: Caller,
  { createPermission }: MethodRules,
  message: object,
  { pattern, references }: AnyPath,
): Promise<void> {
  if (createPermission === undefined || (message as Record<string, unknown>)["allowMissing"] !== true) return;
  const parent = placeOf(pattern.slice(0, -1), references.slice(0, -1));
  await authorise(caller, { permission: createPermission, trims: "never" }, parent);
}

const maxPlaces = 1000;

/** Each place that a question is about, once. */
function readPlaces(field: PlaceField, message: object): Place[] {
  const { listName, messageName, localName } = field;
  const request = message as Fields;
  // More than may be asked at once are refused afterwards.
  const items = listName === undefined ? [] : (request[listName] as Fields[]).slice(0, maxPlaces);
  const isAlone = listName === undefined || (items.length === 0 && messageName !== undefined);
  const places = new Map<string, Place>();
  for (const [index, item] of (isAlone ? [request] : items).entries()) {
    const holder =
      messageName === undefined ? item : ((item[messageName] ?? request[messageName]) as Fields | undefined);
    const path = (holder?.[localName] ?? "") as string;
    // A message that is left out, or says nothing, is about nothing; whether it may is looked at with the rest of the request.
    if (places.has(path) || (messageName !== undefined && path === "")) continue;
    places.set(path, parsePlace(path, nameOf(field, isAlone ? undefined : index)));
  }
  return [...places.values()];
}

/** @param index of the item that holds the field, if one does. */
function nameOf({ listName, messageName, name }: PlaceField, index: number | undefined): string {
  const item = index === undefined ? "" : `${listName}[${index}].`;
  return `${item}${messageName === undefined ? "" : `${messageName}.`}${name}`;
}

type Fields = Readonly<Record<string, unknown>>;

function targetOf({ target }: MethodRules, message: object): AnyPath {
  if (target === undefined) return { pattern: [], references: [] };
  return parseAnyPath(target.patterns, readString(message, target), target.name, target.wildcards);
}

function readString(message: object, target: TargetField): string {
  return (message as Record<string, string>)[target.localName] ?? "";
}
