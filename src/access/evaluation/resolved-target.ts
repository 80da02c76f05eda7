import type { AnyPath, Reference } from "../../paths/parse-path.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import type { Labels } from "../engine/tables/label-table.ts";
import { noPath } from "../conditions/condition-path.ts";
import type { SupportAccess } from "./support-grants.ts";

/** What a permission is decided on. */
export interface DecisionTarget {
  /** The nearest project, org, customer or service that contains the target, or the platform. Grants on it and above it count. */
  readonly resource: TargetScope;
  /** What its org has approved, if members of the platform need that there; the resource is guarded then. */
  readonly support?: SupportAccess | undefined;
  /**
   * Returns the path as conditions see it, with current names, however the request names it. Few decisions need it.
   *
   * @throws Error when the target has several paths or none; conditions then do not hold.
   */
  readonly path: () => string;
  /**
   * Returns the labels that conditions see: those of the nearest project or org that is or contains the target, whatever org the
   * subject is in. Above orgs, there are none.
   *
   * @throws Error when they are not known; conditions then do not hold.
   */
  readonly labels: () => Labels;
}

/** A suspended org or project. Whether somebody may lift its suspension is decided on it, not on what is in it. */
export interface Suspension extends DecisionTarget {
  readonly kind: "org" | "project";
  /** Whether the target is the suspended resource itself, not something in it. */
  readonly isItself: boolean;
}

/**
 * A resolved path: the target of an access decision, and what the call then acts on. Resolved references hold ids, so that a
 * call cannot act on another org, customer or project that takes the name after the decision.
 */
export interface ResolvedTarget extends AnyPath, DecisionTarget {
  /** The suspensions of the org and the project that are or contain the target, from the top. Each of them denies access. */
  readonly suspensions: readonly Suspension[];
  /** Whether the path names the org or project itself, not something in it. */
  readonly isItself: boolean;
  /** Whether the path names a project that is not there, in an org that is. */
  readonly isInMissingProject: boolean;
}

/** No suspensions, as most targets have. */
export const unsuspended: readonly Suspension[] = [];

export const onPlatform: ResolvedTarget = {
  pattern: [],
  references: [],
  resource: { kind: "platform" },
  suspensions: unsuspended,
  isItself: false,
  isInMissingProject: false,
  path: () => "/",
  labels: () => ({}),
};

/**
 * Returns a target as a question about access sees it. A call on what is in a project that is not there is decided on the org, and then finds nothing.
 * Who asks may find something: it does not know what became of the project, nor which labels it had, so only what is granted on the platform without a
 * condition counts.
 */
export function askedAbout(target: ResolvedTarget): ResolvedTarget {
  if (!target.isInMissingProject) return target;
  const guard = "isGuarded" in target.resource && { isGuarded: target.resource.isGuarded };
  return withoutPath({ ...target, resource: { kind: "platform", ...guard } });
}

/** Returns the target that stands for what is in an org or a project, and not for itself. */
export function contentsOf(target: ResolvedTarget): ResolvedTarget {
  const suspensions = target.suspensions.map((suspension) => ({ ...suspension, isItself: false }));
  return { ...target, suspensions, isItself: false };
}

/** Returns a target on which conditional bindings do not count, because it has no path. */
export function withoutPath(target: ResolvedTarget): ResolvedTarget {
  const fail = (): never => {
    throw noPath();
  };
  return { ...target, path: fail, labels: fail };
}

export function hasPath(target: ResolvedTarget): boolean {
  try {
    target.path();
    return true;
  } catch {
    return false;
  }
}

/** Returns the target that stands for everything in a resource. */
export function everywhereIn(resource: TargetScope): ResolvedTarget {
  return withoutPath({ ...onPlatform, resource });
}

export const everywhere = everywhereIn(onPlatform.resource);

/** Returns a reference by id to a resource that was found by the given reference. */
export function toIdReference(reference: Reference, id: string): Reference {
  return reference.by === "name" ? { by: "id", value: id, shown: reference.value } : reference;
}

/** No resource has this id. */
const nobody = "00000000-0000-0000-0000-000000000000";

/** Returns references that are shown as given and lead nowhere. */
export function toNothing([top, ...below]: ResolvedTarget["references"]): ResolvedTarget["references"] {
  return top?.by === "name" ? [toIdReference(top, nobody), ...below] : [...(top === undefined ? [] : [top]), ...below];
}
