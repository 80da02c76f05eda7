// Amounts of Quantities. On the wire they are doubles; inside they are exact decimals, written as text: the shortest text of a
// double, which is what a person who wrote 0.1 meant. PostgreSQL stores them as `numeric`.
import { Big } from "big.js";

/** The largest amount, as of limits of quotas: no sum of amounts becomes infinite. */
export const maxAmount = 1e24;

/** Returns the sum of two amounts: 0.1 and 0.2 are 0.3. */
export function sumOf(one: number, other: number): number {
  return new Big(one).plus(other).toNumber();
}

/** Reports whether an amount is a multiple of a step. Both are exact: 0.3 is a multiple of 0.1. */
export function isMultipleOf(amount: number, step: string): boolean {
  return new Big(amount).mod(step).eq(0);
}
