import { classOf } from "./permission-class.ts";
import { type StoredPart, createRowsPart } from "./stored-part.ts";

/**
 * Numbers for permissions. They are small and reused, so that a role can be a set of bits. The last two bits of a number are the
 * class of the permission.
 */
export interface PermissionTable {
  /** Returns a negative number, with the class in its last two bits, if no role names this permission. */
  readonly find: (permission: string) => number;
  /** Adds a use of the permission and returns its number. A number is reused after as many calls of `giveBack` as of `take`. */
  readonly take: (permission: string) => number;
  readonly giveBack: (number: number) => void;
  readonly names: () => Iterable<string>;
  readonly nameOf: (number: number) => string;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

/** The numbers of permissions that are in use for good, in all tables. */
export interface SharedPermissions {
  readonly numbers: ReadonlyMap<string, number>;
  /** By number. */
  readonly names: readonly string[];
  /** The next new number of each class. */
  readonly next: readonly number[];
}

/** Numbers permissions for tables that share them. */
export function sharePermissions(names: Iterable<string>): SharedPermissions {
  const numbers = new Map<string, number>();
  const permissions: string[] = [];
  const next = [0, 1, 2, 3];
  for (const name of new Set(names)) {
    const ofClass = classOf(name);
    const number = next[ofClass] ?? ofClass;
    next[ofClass] = number + 4;
    numbers.set(name, number);
    permissions[number] = name;
  }
  return { numbers, names: permissions, next };
}

/** The approximate memory of a map entry and its text. */
const bytesOfEntry = 120;

export function createPermissionTable(shared: SharedPermissions): PermissionTable {
  const numbers = new Map<string, number>();
  const permissions = new Map<number, string>();
  const uses = new Map<number, number>();
  /** The next new number, and the numbers to reuse, of each class. */
  const next = [...shared.next];
  const free: number[][] = [[], [], [], []];

  function takeNumber(permission: string): number {
    const ofClass = classOf(permission);
    const reused = free[ofClass]?.pop();
    if (reused !== undefined) return reused;
    const number = next[ofClass] ?? ofClass;
    next[ofClass] = number + 4;
    return number;
  }

  return {
    find: (permission) => shared.numbers.get(permission) ?? numbers.get(permission) ?? classOf(permission) - 4,

    take(permission) {
      const known = shared.numbers.get(permission);
      if (known !== undefined) return known;
      let number = numbers.get(permission);
      if (number === undefined) {
        number = takeNumber(permission);
        numbers.set(permission, number);
        permissions.set(number, permission);
      }
      uses.set(number, (uses.get(number) ?? 0) + 1);
      return number;
    },

    giveBack(number) {
      const name = permissions.get(number);
      if (name === undefined) return;
      const left = (uses.get(number) ?? 0) - 1;
      uses.set(number, left);
      if (left > 0) return;
      numbers.delete(name);
      permissions.delete(number);
      uses.delete(number);
      free[number & 3]?.push(number);
    },

    names: () => [...shared.numbers.keys(), ...numbers.keys()],
    nameOf: (number) => shared.names[number] ?? permissions.get(number) ?? "",
    bytes: () => numbers.size * bytesOfEntry,

    parts: () => [
      ...createRowsPart(
        "permissions",
        () => [...numbers].map(([name, number]) => ({ name, number, used: uses.get(number) ?? 0 })),
        ({ name, number, used }) => {
          numbers.set(name, number);
          permissions.set(number, name);
          uses.set(number, used);
        },
      ),
      ...createRowsPart(
        "numbers of permissions",
        () => next.map((number, ofClass) => ({ ofClass, number, reusable: free[ofClass] ?? [] })),
        ({ ofClass, number, reusable }) => {
          next[ofClass] = number;
          free[ofClass] = reusable;
        },
      ),
    ],
  };
}
