// Classes of permissions. A predefined role can hold all permissions of a class, including those that nothing names yet.
import { resourceTypes } from "../../../../gen/resource-types.ts";

/**
 * The class of a permission, from 0 to 3. Every permission is in exactly one:
 *
 * - `own`: of an area of this service; also every text that is not `<area>.<collection>.<verb>`;
 * - `get`, `list`: of another service, with this verb;
 * - `write`: of another service, with another verb.
 */
export type PermissionClass = (typeof permissionClass)[keyof typeof permissionClass];

export const permissionClass = { own: 0, get: 1, list: 2, write: 3 } as const;

/** A set of classes: a bit for each. */
export type PermissionClasses = number;

const bitOf = (each: PermissionClass): PermissionClasses => 1 << each;
const { own, get, list, write } = permissionClass;

export const noClasses: PermissionClasses = 0;

/**
 * The texts that stand for all permissions of some classes, in predefined roles and in answers. In front of `.`, `*` stands
 * for the other services and for their collections.
 */
const wildcards = {
  "*": bitOf(own) | bitOf(get) | bitOf(list) | bitOf(write),
  "*.*.*": bitOf(get) | bitOf(list) | bitOf(write),
  "*.*.get": bitOf(get),
  "*.*.list": bitOf(list),
} as const satisfies Record<string, PermissionClasses>;

/** A text that stands for all permissions of some classes. */
export type PermissionWildcard = keyof typeof wildcards;

export const allClasses: PermissionClasses = wildcards["*"];

/** The areas of this service. */
export const ownAreas: ReadonlySet<string> = new Set(Object.values(resourceTypes).map(({ area }) => area));

const permissionPattern = /^([a-z][A-Za-z0-9]*)\.[a-z][A-Za-z0-9]*\.([a-z][A-Za-z0-9]*)$/;

/** The maximum length of a permission, as `permission` in constraints.proto has it. */
const maxLength = 128;

export function isPermission(text: string): boolean {
  return text.length <= maxLength && permissionPattern.test(text);
}

export function classOf(permission: string): PermissionClass {
  const [, area = "", verb = ""] = permissionPattern.exec(permission) ?? [];
  if (area === "" || ownAreas.has(area)) return own;
  if (verb === "get") return get;
  return verb === "list" ? list : write;
}

export function hasClass(classes: PermissionClasses, each: number): boolean {
  return ((classes >>> each) & 1) === 1;
}

export function isWildcard(text: string): text is PermissionWildcard {
  return Object.hasOwn(wildcards, text);
}

export function classesIn(permissions: readonly string[]): PermissionClasses {
  return permissions.filter(isWildcard).reduce<PermissionClasses>((all, each) => all | wildcards[each], noClasses);
}

/** Returns the wildcards that stand for the classes, as few as possible: `*.*.*` also if only `write` is among them. */
export function describeClasses(classes: PermissionClasses): PermissionWildcard[] {
  if (hasClass(classes, own)) return ["*"];
  if (hasClass(classes, write)) return ["*.*.*"];
  return (["*.*.get", "*.*.list"] as const).filter((each) => (classes & wildcards[each]) !== 0);
}
