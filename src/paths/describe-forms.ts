import { nearestNames } from "../errors/nearest-names.ts";
import { type PathPattern, describePattern } from "./patterns.ts";

/** How many forms are listed besides the nearest ones: more than any field has that names one kind of resource. */
const mostListed = 6;

/**
 * Says which forms a path may have that has none of them: `must have the form orgs/{org}/members/{member}, or one of the forms ...`.
 * The nearest ones come first, by the collections in the path, and then those that begin as it does.
 */
export function describeForms(patterns: readonly PathPattern[], text: string): string {
  const collections = collectionsOf(text);
  const near = nearestNames(collections.join("/"), patterns.filter(isNotEmpty).map(keyOf));
  const nearest = patterns.filter((pattern) => isNotEmpty(pattern) && near.includes(keyOf(pattern)));
  const others = patterns
    .filter((pattern) => !nearest.includes(pattern))
    .toSorted((one, other) => sharedLength(other, collections) - sharedLength(one, collections));
  const more = others.length - mostListed;
  const listed = [...others.slice(0, mostListed).map(describe), ...(more > 0 ? [`${more} others`] : [])].join(", ");
  if (nearest.length === 0) return `must have one of the forms ${listed}`;
  const form = `must have the form ${nearest.map(describe).join(" or ")}`;
  return listed === "" ? form : `${form}, or one of the forms ${listed}`;
}

/** Returns the collections of a path, also of one that ends with a collection. */
function collectionsOf(text: string): string[] {
  const segments = text.replace(/^\//, "").split("/");
  return segments.filter((_, index) => index % 2 === 0);
}

const keyOf = (pattern: PathPattern): string => pattern.join("/");

const isNotEmpty = (pattern: PathPattern): boolean => pattern.length > 0;

const describe = (pattern: PathPattern): string => (isNotEmpty(pattern) ? describePattern(pattern) : "empty");

/** Returns how many collections a pattern has in common with a path, from the top. */
function sharedLength(pattern: PathPattern, collections: readonly string[]): number {
  const end = pattern.findIndex((collection, level) => collection !== collections[level]);
  return end === -1 ? pattern.length : end;
}
