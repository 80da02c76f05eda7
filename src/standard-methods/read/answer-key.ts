import { type Visibility, isUnlimited } from "../../access/evaluation/visibility.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { PathPattern } from "../../paths/patterns.ts";

/**
 * Returns what an answer depends on besides the revisions of its orgs. Resources are in it by the ids on which the call was
 * authorised: by a name, the answer about another resource could be found that had the name before.
 */
export function answerKey(
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
