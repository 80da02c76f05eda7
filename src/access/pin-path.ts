import type { AnyPath, Reference } from "../paths/resource-path.ts";
import type { Resource } from "./engine/resource.ts";

/**
 * The references of a path, of which those that the caller was authorised on stand by their ids: whoever gives another org,
 * project or customer their name meanwhile does not have that acted on.
 *
 * @param resource what the caller was authorised on, undefined for all of its kind.
 */
export function pinPath({ pattern, references }: AnyPath, resource: Resource | undefined): readonly Reference[] {
  if (resource === undefined) return references;
  const ids = pattern.map((collection) => idIn(resource, collection));
  return references.map((reference, level) => {
    const id = ids[level];
    // What is below one that stays as it is may be in any.
    const isFixed = references.slice(0, level).every((above, at) => above.by !== "any" && ids[at] !== undefined);
    if (reference.by !== "name" || id === undefined || !isFixed) return reference;
    return { by: "id", value: id, shown: reference.value };
  });
}

function idIn(resource: Resource, collection: string): string | undefined {
  switch (collection) {
    case "customers":
      return resource.kind === "customer" ? resource.customerId : undefined;
    case "orgs":
      return "orgId" in resource ? resource.orgId : undefined;
    case "projects":
      return resource.kind === "project" ? resource.projectId : undefined;
    default:
      return undefined;
  }
}
