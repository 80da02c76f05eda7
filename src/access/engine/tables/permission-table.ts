import { classOf } from "./permission-class.ts";

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
  /** Returns all permissions that roles name. */
  readonly names: () => Iterable<string>;
  readonly nameOf: (number: number) => string;
  readonly bytes: () => number;
}

/** The approximate memory of a map entry and its text. */
const bytesOfEntry = 120;

export function createPermissionTable(): PermissionTable {
  const numbers = new Map<string, number>();
  const permissions: string[] = [];
  const uses: number[] = [];
  /** The next new number, and the numbers to reuse, of each class. */
  const next = [0, 1, 2, 3];
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
    find: (permission) => numbers.get(permission) ?? classOf(permission) - 4,

    take(permission) {
      let number = numbers.get(permission);
      if (number === undefined) {
        number = takeNumber(permission);
        numbers.set(permission, number);
        permissions[number] = permission;
        uses[number] = 0;
      }
      uses[number] = (uses[number] ?? 0) + 1;
      return number;
    },

    giveBack(number) {
      const left = (uses[number] ?? 0) - 1;
      uses[number] = left;
      if (left > 0) return;
      numbers.delete(permissions[number] ?? "");
      free[number & 3]?.push(number);
    },

    names: () => numbers.keys(),
    nameOf: (number) => permissions[number] ?? "",
    bytes: () => numbers.size * bytesOfEntry,
  };
}
