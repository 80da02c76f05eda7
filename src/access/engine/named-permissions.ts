/** Permissions by their names: those of a list, or all but those. */
export interface NamedPermissions {
  readonly allBut: boolean;
  readonly names: ReadonlySet<string>;
}

/** Stands for the permissions that have no name yet, which only sets of all but some hold. */
const unnamed = "*";

function holdsPermission({ allBut, names }: NamedPermissions, permission: string): boolean {
  return names.has(permission) !== allBut;
}

export function unionOf(sets: readonly NamedPermissions[]): NamedPermissions {
  const first = sets.find(({ allBut }) => allBut);
  if (first === undefined) return { allBut: false, names: new Set(sets.flatMap(({ names }) => [...names])) };
  const left = [...first.names].filter((name) => !sets.some((set) => holdsPermission(set, name)));
  return { allBut: true, names: new Set(left) };
}

/** What one set holds and the other does not, of these permissions. */
export function differenceOf(set: NamedPermissions, other: NamedPermissions, known: Iterable<string>): string[] {
  const missing = [...known].filter((name) => holdsPermission(set, name) && !holdsPermission(other, name));
  return set.allBut && !other.allBut ? [unnamed, ...missing] : missing;
}
