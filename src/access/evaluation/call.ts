import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Author, Origin } from "../../changes/author.ts";
import type { Caller } from "../../identity/caller.ts";
import { type PathPattern, isSamePattern, patterns } from "../../paths/patterns.ts";
import type { OneReference, References } from "../../paths/parse-path.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import { narrowingOf } from "./caller-view.ts";
import type { Holder } from "./author-view.ts";
import type { Authorised, ItemParent } from "./authorise.ts";
import type { Visibility } from "./visibility.ts";

/** What the interceptors have determined about a call before its handler runs. */
export interface AuthorisedCall extends Authorised {
  readonly caller: Caller;
  /** The full name of the method, `iam.v1alpha.MembersService/CreateMember`. */
  readonly method: string;
  /** Makes the decisions about the call again, for a write that has its locks and a read that has waited. */
  readonly confirm: Author["confirm"];
  /** Reads where the call comes from. @throws ServiceError FIELD_INVALID */
  readonly readOrigin: () => Origin;
  readonly slices: CallSlices;
}

const callKey = createContextKey<AuthorisedCall | undefined>(undefined, { description: "the authorised call" });

/** Authenticates the caller of a call again. */
export const authenticateKey = createContextKey<(() => Promise<Caller>) | undefined>(undefined, {
  description: "authenticates the caller again",
});

interface HasValues {
  readonly values: ContextValues;
}

export function setCall(values: ContextValues, call: AuthorisedCall): void {
  values.set(callKey, call);
}

/**
 * Returns the references of the path on which the call was authorised; empty for the platform as a whole. Handlers act on
 * exactly these references and parse nothing again.
 *
 * @throws Error when the path has another pattern.
 */
export function targetOf<const Pattern extends PathPattern>(context: HasValues, pattern: Pattern): References<Pattern> {
  const { target } = callOf(context);
  if (!isSamePattern(target.pattern, pattern)) throw new Error(`the call's target is not a ${pattern.join("/")} path`);
  return target.references as unknown as References<Pattern>;
}

/** Returns the pattern of the path on which the call was authorised: some resources have several. */
export function patternOf(context: HasValues): PathPattern {
  return callOf(context).target.pattern;
}

/** Returns the org that the call's target is or is in; undefined if it is in none, or in several. */
export function orgOf(context: HasValues): OneReference | undefined {
  const { pattern, references } = callOf(context).target;
  const [top] = references;
  return pattern[0] === patterns.Org[0] && top !== undefined && top.by !== "any" ? top : undefined;
}

export function visibleOf(context: HasValues): Visibility {
  return callOf(context).visible;
}

/** Returns the ids of the resource types that a list may show, or a write may change; undefined for all. */
export function visibleTypesOf(context: HasValues): readonly string[] | undefined {
  return callOf(context).visibleTypes;
}

/** Whether the caller lacks the permission of a method that is open to members of the org, and makes the call as one. */
export function isAsMember(context: HasValues): boolean {
  return callOf(context).isAsMember === true;
}

/** Returns the parents of the items of a batch whose own parent has `-`; undefined for other calls. */
export function itemParentsOf(context: HasValues): readonly (ItemParent | undefined)[] | undefined {
  return callOf(context).parents;
}

export function callerOf(context: HasValues): Caller {
  return callOf(context).caller;
}

/** Returns the function that authenticates the caller again: its credential may have ended. @throws Error for a call without one. */
export function authenticateOf({ values }: HasValues): () => Promise<Caller> {
  const authenticate = values.get(authenticateKey);
  if (authenticate === undefined) throw new Error("the call did not pass the gate");
  return authenticate;
}

/** Returns the time slices of a call, for handlers that take the processor for long. */
export function slicesOf(context: HasValues): CallSlices {
  return callOf(context).slices;
}

/** Returns the function that makes the decisions about a call again, for one that has waited. */
export function confirmOf(context: HasValues): Author["confirm"] {
  return callOf(context).confirm;
}

/** Returns the caller, for decisions about what it holds now. */
export function holderOf(context: HasValues): Holder {
  const { memberId, orgId, grantsUntil, credentialId, ...caller } = callerOf(context);
  const origin = { credentialId };
  return { actorId: memberId, actorOrgId: orgId, grantsUntil, narrowing: narrowingOf(caller), origin };
}

/** Returns the author of a write, for the change log. */
export function authorOf(context: HasValues): Author {
  const { caller, method, confirm, readOrigin } = callOf(context);
  const { memberId, orgId, credentialExpireTime, grantsUntil, allowedAddresses, token, provisions } = caller;
  const isOfClient = token?.clientOrgId !== undefined;
  const credential = {
    credentialExpireTime,
    grantsUntil,
    narrowing: narrowingOf(caller),
    allowedAddresses,
    isOfClient,
    provisions,
  };
  return { actorId: memberId, actorOrgId: orgId, ...credential, method, origin: readOrigin(), confirm };
}

function callOf(context: HasValues): AuthorisedCall {
  const call = context.values.get(callKey);
  if (call === undefined) throw new Error("the handler runs without the authorising interceptor");
  return call;
}
