/**
 * Where each resource stands in the hierarchy: the collections on the way to it, from the top. The same as the
 * `google.api.resource` patterns of the protos (a test holds them together), but with types: whoever parses a
 * `patterns.Member` path gets exactly an org's and a member's reference.
 */
export const patterns = {
  Customer: ["customers"],
  Org: ["orgs"],
  Project: ["orgs", "projects"],
  Member: ["orgs", "members"],
  ApiKey: ["orgs", "members", "apiKeys"],
  Group: ["orgs", "groups"],
  GroupMember: ["orgs", "groups", "members"],
  Subgroup: ["orgs", "groups", "subgroups"],
  Role: ["orgs", "roles"],
  RoleBinding: ["orgs", "roleBindings"],
} as const;

/** Where some resources can stand as well. */
export const otherPatterns = {
  /** Those that are the same everywhere. */
  predefinedRole: ["roles"],
  projectRoleBinding: ["orgs", "projects", "roleBindings"],
  customerRoleBinding: ["customers", "roleBindings"],
  platformRoleBinding: ["roleBindings"],
} as const;

/** A resource of the API by its singular name, as after the slash of a `google.api.resource` type. */
export type ResourceType = keyof typeof patterns;

export type PathPattern = readonly string[];

/** All places where a resource can stand; undefined when there is no such resource. */
export function patternsOf(type: string): readonly PathPattern[] | undefined {
  const { predefinedRole, projectRoleBinding, customerRoleBinding, platformRoleBinding } = otherPatterns;
  if (type === "Role") return [patterns.Role, predefinedRole];
  if (type === "RoleBinding") {
    return [patterns.RoleBinding, projectRoleBinding, customerRoleBinding, platformRoleBinding];
  }
  return Object.hasOwn(patterns, type) ? [patterns[type as ResourceType]] : undefined;
}

export function isSamePattern(one: PathPattern, other: PathPattern): boolean {
  return one.length === other.length && one.every((collection, level) => collection === other[level]);
}

/** How people write a pattern, as the protos do: `orgs/{org}/members/{member}/apiKeys/{api_key}`. */
export function describePattern(pattern: PathPattern): string {
  return pattern.map((collection) => `${collection}/{${toSnakeCase(singular(collection))}}`).join("/");
}

/** The name of one resource of a collection: `orgs` → `org`. */
export function singular(collection: string): string {
  return collection.slice(0, -1);
}

function toSnakeCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
