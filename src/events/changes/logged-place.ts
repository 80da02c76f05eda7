// Where a resource is that the log names: by ids, which stay the same whatever it and what contains it are called.
import { formatReferences } from "../../paths/format-path.ts";
import type { AnyPath, Reference } from "../../paths/parse-path.ts";
import { type PathPattern, isSamePattern, isSingletonType, singletonPath } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import type { ChangeRow } from "./store.ts";

/** What an entry says of its resource. */
export type LoggedResource = Pick<
  ChangeRow,
  "org_id" | "resource_type" | "resource_id" | "resource_path" | "before" | "after"
>;

/** Returns the path of a resource with ids, in which nothing but the resource itself has its own; empty for what is no resource. */
export type KeyPath = (resource: LoggedResource) => string;

export function createKeyPath({ findDefinition }: Pick<ResourceRegistry, "findDefinition">): KeyPath {
  return (resource) => {
    const { resource_type: type } = resource;
    if (type === "Quota") {
      const { pattern, references } = parentOfSingleton(type, resource);
      return singletonPath(type, formatReferences(pattern, references));
    }
    const definition = findDefinition(type);
    const path = definition && placeOf(definition, resource);
    return path === undefined ? "" : formatReferences(path.pattern, path.references);
  };
}

/** Returns the path of a resource; undefined if the entry does not have what is in it. */
export function placeOf({ places }: ResourceDefinition, resource: LoggedResource): AnyPath | undefined {
  const columns = columnsOf(resource);
  const pattern = collectionsOf(resource.resource_path);
  const place = places.find((each) => isSamePattern(each.pattern, pattern));
  if (place === undefined) return undefined;
  const ids = [...place.parents.map(({ column }) => columns[column]), resource.resource_id];
  return ids.every((each) => typeof each === "string") ? { pattern, references: ids.map(toReference) } : undefined;
}

/** Returns the path of what has a singleton, such as a quota. */
export function parentOfSingleton(type: string, resource: LoggedResource): AnyPath {
  const { resource_id: id, resource_path: text, org_id: orgId } = resource;
  const pattern = isSingletonType(type) ? collectionsOf(text.slice(0, -singletonPath(type, "").length)) : [];
  return { pattern, references: [...(pattern.length > 1 ? [orgId] : []), id].map(toReference) };
}

export function columnsOf({ before, after }: LoggedResource): Readonly<Record<string, unknown>> {
  return (after ?? before ?? {}) as Readonly<Record<string, unknown>>;
}

/** Returns the collections in a path. */
function collectionsOf(path: string): PathPattern {
  return path
    .split("/")
    .slice(1)
    .filter((_, index) => index % 2 === 0);
}

export const toReference = (value: string): Reference => ({ by: "id", value });
