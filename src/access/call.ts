import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Author } from "../changes/author.ts";
import type { Caller } from "../identity/caller.ts";
import { type PathPattern, isSamePattern } from "../paths/patterns.ts";
import type { References } from "../paths/resource-path.ts";
import type { Authorised, VisibleOrgs } from "./authorise.ts";

/** What the interceptors found out about a call before its handler runs. */
export interface Call extends Authorised {
  readonly caller: Caller;
  /** `iam.v1alpha.MembersService/CreateMember` */
  readonly method: string;
}

const callKey = createContextKey<Call | undefined>(undefined, { description: "the authorised call" });

interface HasValues {
  readonly values: ContextValues;
}

export function setCall(values: ContextValues, call: Call): void {
  values.set(callKey, call);
}

/**
 * The references of the path that the call was authorised on, empty for the platform as a whole: exactly these, and nothing
 * parsed again, are what a handler acts on.
 */
export function targetOf<const Pattern extends PathPattern>(context: HasValues, pattern: Pattern): References<Pattern> {
  const { target } = callOf(context);
  if (!isSamePattern(target.pattern, pattern)) throw new Error(`the call's target is no ${pattern.join("/")} path`);
  return target.references as unknown as References<Pattern>;
}

/** The pattern of that path: some resources stand in several places. */
export function patternOf(context: HasValues): PathPattern {
  return callOf(context).target.pattern;
}

/** What a list of all orgs may show; undefined for everything. */
export function visibleOf(context: HasValues): VisibleOrgs | undefined {
  return callOf(context).visible;
}

export function callerOf(context: HasValues): Caller {
  return callOf(context).caller;
}

/** Who writes, for the change log. */
export function authorOf(context: HasValues): Author {
  const { caller, method } = callOf(context);
  return { actorId: caller.memberId, actorOrgId: caller.orgId, method };
}

function callOf(context: HasValues): Call {
  const call = context.values.get(callKey);
  if (call === undefined) throw new Error("the handler runs without the authorising interceptor");
  return call;
}
