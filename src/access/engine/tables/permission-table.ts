/** Numbers for permissions. They are small and reused, so that a role can be a set of bits. */
export interface PermissionTable {
  /** Returns -1 if no role names this permission. */
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
  const free: number[] = [];

  return {
    find: (permission) => numbers.get(permission) ?? -1,

    take(permission) {
      let number = numbers.get(permission);
      if (number === undefined) {
        number = free.pop() ?? permissions.length;
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
      free.push(number);
    },

    names: () => numbers.keys(),
    nameOf: (number) => permissions[number] ?? "",
    bytes: () => numbers.size * bytesOfEntry,
  };
}
