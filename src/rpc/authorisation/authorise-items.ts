// Authorises the items of a BatchGet or BatchDelete (AIP-231, AIP-235) where conditions decide.
import type { CallerAuthoriser } from "../../access/evaluation/authorise.ts";
import type { Decision } from "../../access/evaluation/confirm-author.ts";
import type { ResolvedTarget } from "../../access/evaluation/resolved-target.ts";
import { required } from "../../errors/required.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import type { PathPattern } from "../../paths/patterns.ts";
import { atItemOf, checkItems } from "../../standard-methods/batch/batch-item.ts";

/** Returns the permission that the item with an index requires; undefined if there is no such item. */
export type PermissionOfItem = (index: number) => string | undefined;

/** What a batch names. */
export interface BatchItems {
  /** The patterns of the items, one for each kind of parent. */
  readonly patterns: readonly PathPattern[];
  readonly paths: readonly string[];
}

/** How many items are authorised. Validation rejects longer batches later. */
const maxItems = 1000;

const atPath = atItemOf("paths");

/**
 * Authorises the items of a batch. The parent decides for what is in it, but conditions see the path and the labels of what they
 * are asked about. So if only conditions give a permission on the parent, each item must have it as for a single request. An item
 * that names another parent is authorised in that of the batch, and the handler refuses it.
 *
 * @param parent on which the batch is authorised.
 * @returns the decisions to make again when the write has its locks. It finds items by what their paths say, and so do these.
 * @throws ServiceError PATH_INVALID with all invalid paths, PERMISSION_DENIED with the index of the first item that is denied.
 */
export async function authoriseItems(
  { decide, isConditional }: CallerAuthoriser,
  permissionOf: PermissionOfItem,
  parent: ResolvedTarget,
  { patterns, paths }: BatchItems,
): Promise<Decision[]> {
  const conditional = new Map<string, boolean>();
  const dependsOnCondition = (permission: string): boolean => {
    const known = conditional.get(permission) ?? isConditional(permission, parent);
    conditional.set(permission, known);
    return known;
  };
  const items = [...paths.slice(0, maxItems).entries()].flatMap(([index, path]) => {
    const permission = permissionOf(index);
    return permission !== undefined && dependsOnCondition(permission) ? [{ index, path, permission }] : [];
  });
  if (items.length === 0) return [];
  const pattern = required(patterns.find((each) => isChildOf(each, parent.pattern)));
  const read = await checkItems(items, ({ index, path, permission }) => {
    const last = parseResourcePath(pattern, path, `paths[${index}]`, "above-id").slice(-1);
    return Promise.resolve({ index, permission, references: [...parent.references, ...last] });
  });
  const decisions: Decision[] = [];
  for (const { index, permission, references } of read) {
    const [requirement, path] = [
      { permission, listVisibility: "never" },
      { pattern, references },
    ] as const;
    await atPath(index, () => decide(requirement, path));
    decisions.push({ requirement, path, isOfItem: true });
  }
  return decisions;
}

function isChildOf(pattern: PathPattern, parent: PathPattern): boolean {
  return pattern.length === parent.length + 1 && parent.every((collection, level) => collection === pattern[level]);
}
