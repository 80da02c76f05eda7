import type { ConditionNames } from "../../access/conditions/condition-path.ts";
import type { ResourceDefinition } from "./definition.ts";

/**
 * Returns the collections of this API, each with the snapshot table in which conditions find the names of its resources.
 *
 * @throws Error when two resources in one collection have different values of `namedIn`.
 */
export function conditionCollectionsOf(definitions: readonly ResourceDefinition[]): ConditionNames["collections"] {
  const collections = new Map<string, ResourceDefinition["access"]["namedIn"]>();
  for (const { type, places, access } of definitions) {
    for (const { pattern } of places) {
      const collection = pattern.at(-1) ?? "";
      const known = collections.get(collection) ?? access.namedIn;
      if (known !== access.namedIn) {
        throw new Error(`the resource ${type}: conditions already find the names of ${collection} in ${known}`);
      }
      collections.set(collection, access.namedIn);
    }
  }
  return collections;
}
