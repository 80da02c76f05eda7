import { type Visibility, isUnlimited } from "../../access/evaluation/visibility.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { PathPattern } from "../../paths/patterns.ts";

/**
 * Returns what a response depends on besides the revisions of its orgs. The path has the ids for which the call was authorised, not the
 * names of the request: under a name, the response about an earlier resource of that name could be found.
 */
export function responseKey(
  verb: "Get" | "List",
  pattern: PathPattern,
  path: readonly Reference[],
  visible: Visibility,
  parameters: string,
): string {
  // The path of a List ends before the collection.
  const segments = pattern.map((collection, level) => `${collection}/${segmentOf(path[level] ?? { by: "any" })}`);
  const shown = isUnlimited(visible) ? "" : JSON.stringify(visible);
  return `${verb} ${segments.join("/")} ${shown} ${parameters}`;
}

function segmentOf(reference: Reference): string {
  if (reference.by === "any") return "-";
  return reference.by === "id" ? `@${reference.value}` : reference.value;
}
