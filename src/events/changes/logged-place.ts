// Where a resource is that the log names: by ids, which stay the same whatever it and what contains it are called.
import { formatReferences } from "../../paths/format-path.ts";
import type { AnyPath, Reference } from "../../paths/parse-path.ts";
import {
  type PathPattern,
  type ResourceType,
  isSamePattern,
  isSingletonType,
  singletonPath,
} from "../../paths/patterns.ts";
import { required } from "../../errors/required.ts";
import type { ResourceDefinition, ResourcePlace } from "../../standard-methods/definition/definition.ts";
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

/** Returns the key paths of what takes a resource with it when it is removed, beside what contains it. */
export type OwnerPaths = (resource: LoggedResource, keyPath: string) => readonly string[];

/** @throws Error for a reference to what is found by more than its id and its org: an entry does not have that. */
export function createOwnerPaths({ definitions, findDefinition }: Owners): OwnerPaths {
  const placeOfOwner = (type: ResourceType): ResourcePlace => required(findDefinition(type)?.places[0]);
  for (const { type, storage } of definitions) {
    for (const { column, to, onDelete } of storage.references) {
      if (onDelete === "restrict" || placeOfOwner(to).parents.every((parent) => parent.column === "org_id")) continue;
      throw new Error(`${type} is removed with the ${to} in ${column}, whose path entries of the log cannot name`);
    }
  }
  return (resource, keyPath) => {
    const columns = columnsOf(resource);
    const references = findDefinition(resource.resource_type)?.storage.references ?? [];
    return references.flatMap(({ column, to, onDelete }) => {
      const id = columns[column];
      if (onDelete === "restrict" || typeof id !== "string") return [];
      const { pattern, parents } = placeOfOwner(to);
      const path = formatReferences(pattern, [...parents.map(() => resource.org_id), id].map(toReference));
      return keyPath.startsWith(`${path}/`) ? [] : [path];
    });
  };
}

type Owners = Pick<ResourceRegistry, "definitions" | "findDefinition">;

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
