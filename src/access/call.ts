import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Author } from "../changes/author.ts";
import type { VisibleOrgs } from "./authorise.ts";
import type { Caller } from "../identity/caller.ts";
import { type PathPattern, isSamePattern } from "../paths/patterns.ts";
import type { Reference, References } from "../paths/resource-path.ts";

/** What the interceptors found out about a call before its handler runs. */
export interface Call {
  readonly caller: Caller;
  /** `iam.v1alpha.MembersService/CreateMember` */
  readonly method: string;
  /**
   * The path that the call was authorised on, parsed, with the ids of the customer, org and project that this was about; empty
   * for methods on the platform as a whole.
   */
  readonly target: readonly Reference[];
  /** The pattern of that path: some resources stand in several places. */
  readonly pattern: PathPattern;
  /** What a list of all orgs may show; undefined for everything. */
  readonly visible: VisibleOrgs | undefined;
}

const callKey = createContextKey<Call | undefined>(undefined, { description: "the authorised call" });

interface HasValues {
  readonly values: ContextValues;
}

export function setCall(values: ContextValues, call: Call): void {
  values.set(callKey, call);
}

/** The path that the call was authorised on: exactly this, and nothing parsed again, is what a handler acts on. */
export function targetOf<const Pattern extends PathPattern>(context: HasValues, pattern: Pattern): References<Pattern> {
  const { target, pattern: found } = callOf(context);
  if (!isSamePattern(found, pattern)) throw new Error(`the call's target is no ${pattern.join("/")} path`);
  return target as unknown as References<Pattern>;
}

/** Where the resource stands that the call was authorised on. */
export function patternOf(context: HasValues): PathPattern {
  return callOf(context).pattern;
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
