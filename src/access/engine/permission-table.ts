/** Numbers for permissions, small and used again, so that a role can be a set of bits. */
export interface PermissionTable {
  /** -1 when no role names this permission. */
  readonly find: (permission: string) => number;
  /** The permission's number, which is its own until it was given back as often as it was taken. */
  readonly take: (permission: string) => number;
  readonly giveBack: (number: number) => void;
  /** All that roles name. */
  readonly names: () => Iterable<string>;
  readonly nameOf: (number: number) => string;
  readonly bytes: () => number;
}

/** About what an entry of a map and its text cost. */
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
