import type { SchemaNode } from "./node.ts";
import { SchemaError } from "./schema-error.ts";

/** How many schemas may be applied to one value because of another one. */
const maxInPlace = 10_000;

/**
 * Checks that no schema is applied to the same value without end, or very often: references that lead back, and references of
 * which each is to two of the next.
 *
 * @throws SchemaError
 */
export function checkInPlace(nodes: readonly SchemaNode[]): void {
  /** How many schemas each applies to its value; 0 while they are being counted. */
  const counts = new Map<SchemaNode, number>();
  const countOf = (node: SchemaNode): number => {
    const known = counts.get(node);
    if (known === 0) throw new SchemaError(node.location, "refers to itself for the same value");
    if (known !== undefined) return known;
    counts.set(node, 0);
    const count = node.inPlace.reduce((sum, each) => sum + countOf(each), 1);
    if (count > maxInPlace) {
      throw new SchemaError(
        node.location,
        `applies more than ${maxInPlace} schemas to one value: it repeats its references`,
      );
    }
    counts.set(node, count);
    return count;
  };
  for (const node of nodes) countOf(node);
}
