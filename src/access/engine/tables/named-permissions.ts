/** Permissions by name: the listed ones, or all except the listed ones. */
export interface NamedPermissions {
  readonly allBut: boolean;
  readonly names: ReadonlySet<string>;
}

/** Stands for the permissions that nothing names yet, which only `allBut` sets hold. */
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

/** Returns the known permissions that one set holds and the other does not. */
export function differenceOf(set: NamedPermissions, other: NamedPermissions, known: Iterable<string>): string[] {
  const missing = [...known].filter((name) => holdsPermission(set, name) && !holdsPermission(other, name));
  return set.allBut && !other.allBut ? [unnamed, ...missing] : missing;
}
