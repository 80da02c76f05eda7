import type { HandlerContext } from "@connectrpc/connect";
import { patternOf, targetOf } from "../access/evaluation/call.ts";
import { required } from "../errors/required.ts";
import type { Reference } from "../paths/parse-path.ts";
import { isSamePattern } from "../paths/patterns.ts";
import type { ResourcePlace } from "./definition/definition.ts";

/** Returns the place of the resource that a call is about, of those in which its type is served, and its path. */
export function placeOfCall<Placed extends { readonly place: ResourcePlace }>(
  served: readonly Placed[],
  context: HandlerContext,
): { readonly placed: Placed; readonly path: readonly Reference[] } {
  const pattern = patternOf(context);
  const placed = required(served.find(({ place }) => isSamePattern(place.pattern, pattern)));
  return { placed, path: targetOf(context, pattern) };
}
