import type { ConditionNames } from "../access/conditions/condition-path.ts";
import type { ResourceDefinition } from "./definition.ts";

/**
 * The collections of this API, with where conditions find the names of what is in them.
 *
 * @throws Error when two resources of one collection say otherwise.
 */
export function conditionCollectionsOf(definitions: readonly ResourceDefinition[]): ConditionNames["collections"] {
  const collections = new Map<string, ResourceDefinition["access"]["namedIn"]>();
  for (const { type, places, access } of definitions) {
    for (const { pattern } of places) {
      const collection = pattern.at(-1) ?? "";
      const known = collections.get(collection) ?? access.namedIn;
      if (known !== access.namedIn) {
        throw new Error(`the resource ${type}: conditions find what is in ${collection} in ${known} already`);
      }
      collections.set(collection, access.namedIn);
    }
  }
  return collections;
}
