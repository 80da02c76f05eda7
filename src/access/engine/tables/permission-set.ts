/** Permissions by number, one bit each, or all permissions except these, including those that nothing names yet. */
export interface PermissionSet {
  /** Whether the bits are the permissions that the set does not have. */
  readonly allBut: boolean;
  /** The number of permissions; Infinity for all, with or without exceptions. */
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

/**
 * Reports whether the set has a permission.
 *
 * @param number -1 stands for a permission that nothing names.
 */
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
