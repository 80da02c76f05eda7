import { ServiceError } from "../../errors/service-error.ts";
import type { Reference } from "../../paths/parse-path.ts";

/** Returns a path of the parent's kind in the parent's notation, or undefined if it names a different resource. */
export type WithinParent = (path: readonly Reference[]) => Promise<readonly Reference[] | undefined>;

type Resolver = (parent: readonly Reference[]) => Promise<readonly Reference[]>;

/**
 * Returns a function that compares paths with a parent. Either side may contain `-` (any); it is filled in from the other side.
 * A name and an id match if they name the same resource.
 */
export function createWithinParent(resolve: Resolver, parent: readonly Reference[]): WithinParent {
  const known = new Map<string, Promise<boolean>>();
  return async (path) => {
    const place = fill(parent, path);
    const other = fill(path, parent);
    const [key, otherKey] = [keyOf(place), keyOf(other)];
    if (key === otherKey) return place;
    const pair = `${key} ${otherKey}`;
    const isSame = known.get(pair) ?? nameTheSame(resolve, place, other);
    known.set(pair, isSame);
    return (await isSame) ? place : undefined;
  };
}

const fill = (one: readonly Reference[], other: readonly Reference[]): readonly Reference[] =>
  one.map((reference, level) => (reference.by === "any" ? (other[level] ?? reference) : reference));

/** Returns a key for a path, which contains the name by which a resource was referred to, if there is one. */
const keyOf = (path: readonly Reference[]): string =>
  path
    .map((reference) => (reference.by === "id" ? (reference.shown ?? `@${reference.value}`) : writtenOf(reference)))
    .join("/");

const writtenOf = (reference: Exclude<Reference, { readonly by: "id" }>): string =>
  reference.by === "any" ? "-" : reference.value;

async function nameTheSame(
  resolve: Resolver,
  one: readonly Reference[],
  other: readonly Reference[],
): Promise<boolean> {
  try {
    const [first, second] = await Promise.all([resolve(one), resolve(other)]);
    return keyOf(first) === keyOf(second);
  } catch (error) {
    // Do not reveal whether a resource outside of the parent exists.
    if (error instanceof ServiceError && error.reason === "RESOURCE_NOT_FOUND") return false;
    throw error;
  }
}
