// The places of resources in the hierarchy, as declared by the `google.api.resource` patterns of the protos. A pattern is the
// list of collections on the way to a resource, from the top. Its type is exact: a parsed `patterns.Member` path has the
// references of an org and a member.
import { resourceTypes, singletons, singulars } from "../../gen/resource-types.ts";

/** A resource of the API by its singular name, as after the slash of a `google.api.resource` type. */
export type ResourceType = keyof typeof resourceTypes;

/** A resource of which each of its parents has exactly one, without a name or an id of its own (AIP-156). */
export type SingletonType = keyof typeof singletons;

export const singletonTypes = Object.keys(singletons) as readonly SingletonType[];

export type PathPattern = readonly string[];

/** The first pattern that the proto of each resource declares. */
export const patterns = Object.fromEntries(
  Object.entries(resourceTypes).map(([type, declared]) => [type, declared.patterns[0]]),
) as { readonly [Type in ResourceType]: (typeof resourceTypes)[Type]["patterns"][0] };

const [, predefinedRole] = resourceTypes.Role.patterns;
const [, projectRoleBinding, customerRoleBinding, serviceRoleBinding, platformRoleBinding] =
  resourceTypes.RoleBinding.patterns;
const [, customerWebhook] = resourceTypes.Webhook.patterns;
const [, customerContact] = resourceTypes.Contact.patterns;

/** The other patterns of resources that have several. */
export const otherPatterns = {
  predefinedRole,
  projectRoleBinding,
  customerRoleBinding,
  serviceRoleBinding,
  platformRoleBinding,
  customerWebhook,
  customerContact,
} as const;

export const allPatterns: readonly PathPattern[] = Object.values(resourceTypes).flatMap(
  (declared): readonly PathPattern[] => declared.patterns,
);

/** Returns all patterns of a resource; undefined if there is no such resource. */
export function patternsOf(type: string): readonly PathPattern[] | undefined {
  return Object.hasOwn(resourceTypes, type) ? resourceTypes[type as ResourceType].patterns : undefined;
}

/** Returns the patterns of the parents of a resource; undefined if there is no such resource. */
export function parentPatternsOf(type: string): readonly PathPattern[] | undefined {
  if (isSingletonType(type)) return singletons[type].parents;
  return patternsOf(type)?.map((pattern) => pattern.slice(0, -1));
}

export function isSingletonType(type: string): type is SingletonType {
  return Object.hasOwn(singletons, type);
}

/** Returns the path of a singleton: `/orgs/acme/quota`. */
export function singletonPath(type: SingletonType, parentPath: string): string {
  return `${parentPath}/${singletons[type].segment}`;
}

/** Returns the names of a resource in the names of methods: `GetApiKey`, `ListApiKeys`. */
export function methodNouns(type: ResourceType): { readonly one: string; readonly many: string } {
  const { singular: one, plural: many } = resourceTypes[type];
  return { one: upperFirst(one), many: upperFirst(many) };
}

export function isSamePattern(one: PathPattern, other: PathPattern): boolean {
  return (
    one === other || (one.length === other.length && one.every((collection, level) => collection === other[level]))
  );
}

/** Reports whether the ids at the end of a pattern are those of other resources, so that the same id can be in several parents. */
export function sharesIds(pattern: PathPattern): boolean {
  return shared.some((each) => isSamePattern(each, pattern));
}

const shared: readonly PathPattern[] = Object.values(resourceTypes).flatMap(
  ({ sharesId, patterns: places }): readonly PathPattern[] => (sharesId ? places : []),
);

/** Reports whether names in a collection are identifiers, such as `cpu_cores`, and not names with dashes. */
export function hasIdentifierNames(collection: string): boolean {
  return identified.has(collection);
}

const identified: ReadonlySet<string> = new Set(
  Object.values(resourceTypes).flatMap(({ identifierNames, patterns: places }) =>
    identifierNames ? places.map((place) => place.at(-1) ?? "") : [],
  ),
);

/** Returns a pattern as the protos write it: `orgs/{org}/members/{member}/apiKeys/{api_key}`. */
export function describePattern(pattern: PathPattern): string {
  return pattern.map((collection) => `${collection}/{${toSnakeCase(singular(collection))}}`).join("/");
}

/** Returns the name of one resource of a collection: `orgs` → `org`. */
export function singular(collection: string): string {
  return Object.hasOwn(singulars, collection) ? singulars[collection as keyof typeof singulars] : collection;
}

function toSnakeCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
