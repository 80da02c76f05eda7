// Where resources stand in the hierarchy, as the `google.api.resource` patterns of the protos say it. A pattern is the list of
// collections on the way to a resource, from the top. Its type is exact: a parsed `patterns.Member` path has an org's and a
// member's reference.
import { resourceTypes, singulars } from "../../gen/resource-types.ts";

/** A resource of the API by its singular name, as after the slash of a `google.api.resource` type. */
export type ResourceType = keyof typeof resourceTypes;

export type PathPattern = readonly string[];

/** The place of each resource that its proto names first. */
export const patterns = Object.fromEntries(
  Object.entries(resourceTypes).map(([type, declared]) => [type, declared.patterns[0]]),
) as { readonly [Type in ResourceType]: (typeof resourceTypes)[Type]["patterns"][0] };

const [, predefinedRole] = resourceTypes.Role.patterns;
const [, projectRoleBinding, customerRoleBinding, platformRoleBinding] = resourceTypes.RoleBinding.patterns;

/** Where some resources stand as well. */
export const otherPatterns = {
  /** Roles that are the same everywhere. */
  predefinedRole,
  projectRoleBinding,
  customerRoleBinding,
  platformRoleBinding,
} as const;

/** All places where a resource can stand; undefined when there is no such resource. */
export function patternsOf(type: string): readonly PathPattern[] | undefined {
  return Object.hasOwn(resourceTypes, type) ? resourceTypes[type as ResourceType].patterns : undefined;
}

/** The names of a resource as methods are called after it: `GetApiKey`, `ListApiKeys`. */
export function methodNouns(type: ResourceType): { readonly one: string; readonly many: string } {
  const { singular: one, plural: many } = resourceTypes[type];
  return { one: upperFirst(one), many: upperFirst(many) };
}

export function isSamePattern(one: PathPattern, other: PathPattern): boolean {
  return (
    one === other || (one.length === other.length && one.every((collection, level) => collection === other[level]))
  );
}

/** Whether the ids at the end of a pattern are those of other resources, so that one can stand in several parents. */
export function sharesIds(pattern: PathPattern): boolean {
  return shared.some((each) => isSamePattern(each, pattern));
}

const shared: readonly PathPattern[] = Object.values(resourceTypes).flatMap(
  ({ sharesId, patterns: places }): readonly PathPattern[] => (sharesId ? places : []),
);

/** How people write a pattern, as the protos do: `orgs/{org}/members/{member}/apiKeys/{api_key}`. */
export function describePattern(pattern: PathPattern): string {
  return pattern.map((collection) => `${collection}/{${toSnakeCase(singular(collection))}}`).join("/");
}

/** The name of one resource of a collection: `orgs` → `org`. */
export function singular(collection: string): string {
  return Object.hasOwn(singulars, collection) ? singulars[collection as keyof typeof singulars] : collection;
}

function toSnakeCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
