import { type ComparedFields, fieldsOfCreation } from "./compared-fields.ts";
import type { Creation, Kind } from "./creation.ts";
import { identityOf } from "./identity-of.ts";
import { printable } from "../printable.ts";
import type { ExistingResource } from "./read-existing.ts";

/** A resource that is not as the file says, and that an import leaves as it is. */
export interface Difference {
  readonly kind: Kind;
  /** The resource, such as `alice in engineering`. */
  readonly label: string;
  /** Each field with another value than in the file; empty if the file does not contain the resource. */
  readonly fields: readonly string[];
}

/** Compares the existing resources with those of the file. Resources to create are not differences. */
export function findDifferences(
  creations: readonly Creation[],
  existing: ReadonlyMap<string, ExistingResource>,
): Difference[] {
  const wanted = new Map(creations.map((creation) => [identityOf(creation), creation]));
  const differences: Difference[] = [];
  for (const [identity, { kind, label, fields }] of existing) {
    const creation = wanted.get(identity);
    const different = creation === undefined ? [] : compare(fields, fieldsOfCreation(creation));
    if (creation === undefined || different.length > 0) differences.push({ kind, label, fields: different });
  }
  return differences;
}

function compare(existing: ComparedFields, wanted: ComparedFields): string[] {
  return Object.entries(existing).flatMap(([field, value]) => {
    const other = wanted[field] ?? "";
    if (typeof value !== "string" || typeof other !== "string")
      return compareSets(field, [value].flat(), [other].flat());
    return value === other ? [] : [`${field} is ${show(value)}, not ${show(other)}`];
  });
}

function compareSets(field: string, existing: readonly string[], wanted: readonly string[]): string[] {
  const without = (all: readonly string[], others: readonly string[]) => {
    const known = new Set(others);
    return all.filter((value) => !known.has(value)).join(", ");
  };
  const more = without(existing, wanted);
  const less = without(wanted, existing);
  return [
    ...(more === "" ? [] : [`${field} also has ${printable(more)}`]),
    ...(less === "" ? [] : [`${field} lacks ${printable(less)}`]),
  ];
}

function show(value: string): string {
  return value === "" ? "empty" : `"${printable(value)}"`;
}
