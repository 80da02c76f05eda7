import { type PermissionClasses, allClasses, hasClass, noClasses } from "./permission-class.ts";

/** Permissions by number, one bit each, and whole classes of permissions. */
export interface PermissionSet {
  /** The classes of which the set has all permissions, including those that nothing names yet. */
  readonly classes: PermissionClasses;
  /** The permissions that the set has of the other classes. */
  readonly bits: Uint32Array;
  /** The number of permissions; Infinity for all. A class counts more than any list. */
  readonly size: number;
}

export const noPermissions: PermissionSet = { classes: noClasses, bits: new Uint32Array(), size: 0 };

/** More than the permissions that a list can have. */
const sizeOfClass = 1 << 20;

/** @param numbers the permissions of classes that are not whole. */
export function createPermissionSet(numbers: readonly number[], classes: PermissionClasses = noClasses): PermissionSet {
  const highest = numbers.reduce((high, number) => Math.max(high, number), -1);
  const bits = new Uint32Array((highest + 32) >>> 5);
  for (const number of numbers) bits[number >>> 5] = (bits[number >>> 5] ?? 0) | (1 << (number & 31));
  return { classes, bits, size: sizeOf(numbers, classes) };
}

function sizeOf(numbers: readonly number[], classes: PermissionClasses): number {
  if (classes === allClasses) return Infinity;
  const whole = [0, 1, 2, 3].filter((each) => hasClass(classes, each)).length;
  return whole * sizeOfClass + new Set(numbers).size;
}

/**
 * @param number from a PermissionTable. Its last two bits are the class; a negative one stands for the permissions of the class
 *   that nothing names.
 */
export function hasPermission({ classes, bits }: PermissionSet, number: number): boolean {
  const word = number >>> 5;
  const isListed = word < bits.length && (((bits[word] as number) >>> (number & 31)) & 1) === 1;
  return isListed || hasClass(classes, number & 3);
}

export function listedNumbers({ bits }: PermissionSet): number[] {
  const numbers: number[] = [];
  bits.forEach((word, index) => {
    for (let bit = 0; bit < 32; bit++) if (((word >>> bit) & 1) === 1) numbers.push(index * 32 + bit);
  });
  return numbers;
}
