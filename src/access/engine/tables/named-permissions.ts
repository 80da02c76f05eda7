import { type PermissionClasses, classOf, describeClasses, hasClass, noClasses } from "./permission-class.ts";

export interface NamedPermissions {
  /** The classes of which all permissions are held. */
  readonly classes: PermissionClasses;
  /** The permissions that are held of the other classes. */
  readonly names: ReadonlySet<string>;
}

function holdsPermission({ classes, names }: NamedPermissions, permission: string): boolean {
  return names.has(permission) || hasClass(classes, classOf(permission));
}

export function unionOf(sets: readonly NamedPermissions[]): NamedPermissions {
  const classes = sets.reduce((all, set) => all | set.classes, noClasses);
  const names = sets.flatMap((set) => [...set.names]).filter((name) => !hasClass(classes, classOf(name)));
  return { classes, names: new Set(names) };
}

/** The permissions that one set holds and another one does not. */
export interface Difference {
  /** The classes of which the difference has the permissions that nothing names yet. */
  readonly classes: PermissionClasses;
  readonly names: ReadonlySet<string>;
}

/**
 * Returns the permissions that one set holds and the other does not.
 *
 * @param known the permissions that the difference can name.
 */
export function differenceOf(set: NamedPermissions, other: NamedPermissions, known: Iterable<string>): Difference {
  const names = [...known].filter((name) => holdsPermission(set, name) && !holdsPermission(other, name));
  return { classes: set.classes & ~other.classes, names: new Set(names) };
}

/** Returns what is in any of the differences but not in the other one. */
export function differenceWithout(differences: readonly Difference[], other: Difference): Difference {
  const classes = differences.reduce((all, each) => all | each.classes, noClasses);
  const names = new Set(differences.flatMap((each) => [...each.names]));
  return { classes: classes & ~other.classes, names: new Set([...names].filter((name) => !other.names.has(name))) };
}

/** Returns the permissions of a difference in order. Wildcards stand for those that nothing names yet. */
export function describeDifference({ classes, names }: Difference): string[] {
  return [...describeClasses(classes), ...names].toSorted();
}
