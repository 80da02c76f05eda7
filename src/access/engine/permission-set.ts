/** Permissions by their numbers, a bit each; or all but these, also those that nobody has named yet. */
export interface PermissionSet {
  /** Whether the bits are those that it does not have. */
  readonly allBut: boolean;
  /** How many permissions it has; Infinity for all, with or without exceptions. */
  readonly size: number;
  readonly bits: Uint32Array;
}

export const noPermissions: PermissionSet = { allBut: false, size: 0, bits: new Uint32Array() };

export function createPermissionSet(numbers: readonly number[], allBut = false): PermissionSet {
  const highest = numbers.reduce((high, number) => Math.max(high, number), -1);
  const bits = new Uint32Array((highest + 32) >>> 5);
  for (const number of numbers) bits[number >>> 5] = (bits[number >>> 5] ?? 0) | (1 << (number & 31));
  return { allBut, size: allBut ? Infinity : new Set(numbers).size, bits };
}

/** @param number -1 stands for a permission that nobody has named. */
export function hasPermission(set: PermissionSet, number: number): boolean {
  const word = number >>> 5;
  const isNamed = word < set.bits.length && (((set.bits[word] as number) >>> (number & 31)) & 1) === 1;
  return isNamed !== set.allBut;
}

export function listPermissionNumbers(set: PermissionSet): number[] {
  const numbers: number[] = [];
  set.bits.forEach((word, index) => {
    for (let bit = 0; bit < 32; bit++) if (((word >>> bit) & 1) === 1) numbers.push(index * 32 + bit);
  });
  return numbers;
}
