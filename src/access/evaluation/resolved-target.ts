import type { AnyPath, Reference } from "../../paths/resource-path.ts";
import type { Resource } from "../engine/resource.ts";
import { noPath } from "../conditions/condition-path.ts";

/**
 * What a path names, found: what access is decided on, and what a call then acts on. The references that were found stand by
 * their ids, so that another org, customer or project that is given their name meanwhile is not acted on.
 */
export interface ResolvedTarget extends AnyPath {
  /** The nearest project, org or customer around it, or the platform: what is granted there and above counts. */
  readonly resource: Resource;
  /** What around it is suspended. */
  readonly suspended: "org" | "project" | undefined;
  /** Whether it is the org or project itself that is named, nothing in it. */
  readonly isItself: boolean;
  /**
   * Returns its path as conditions see it, with current names, whatever it was asked for by; few decisions need it. Throws where
   * there are several or none, for which conditions hold nothing.
   */
  readonly path: () => string;
}

export const onPlatform: ResolvedTarget = {
  pattern: [],
  references: [],
  resource: { kind: "platform" },
  suspended: undefined,
  isItself: false,
  path: () => "/",
};

/** All there is in something: what is granted under a condition counts only where it is known to hold. */
export function everywhereIn(resource: Resource): ResolvedTarget {
  return {
    ...onPlatform,
    resource,
    path() {
      throw noPath();
    },
  };
}

export const everywhere = everywhereIn(onPlatform.resource);

/** A reference to what was found under it. */
export function pinned(reference: Reference, id: string): Reference {
  return reference.by === "name" ? { by: "id", value: id, shown: reference.value } : reference;
}
