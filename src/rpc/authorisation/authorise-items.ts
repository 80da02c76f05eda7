// Authorises the items of a BatchGet or BatchDelete (AIP-231, AIP-235) where their parent does not decide.
import type { CallerAuthoriser } from "../../access/evaluation/authorise.ts";
import type { ItemDecision } from "../../access/evaluation/confirm-author.ts";
import type { ResolvedTarget } from "../../access/evaluation/resolved-target.ts";
import { required } from "../../errors/required.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import type { PathPattern } from "../../paths/patterns.ts";
import { atItemOf, checkItems } from "../../standard-methods/batch/batch-item.ts";

/** Returns the permissions that the item with an index requires: several if it is not known of which type it is. */
export type PermissionsOfItem = (index: number) => readonly string[];

export interface BatchItems {
  /** The patterns of the items, one for each kind of parent. */
  readonly patterns: readonly PathPattern[];
  readonly paths: readonly string[];
  /** Whether the batch reads them. A read takes no locks, so nothing is decided again. */
  readonly reads: boolean;
}

/** How many items are authorised. Validation rejects longer batches later. */
const maxItems = 1000;

const atPath = atItemOf("paths");

/**
 * Authorises the items of a batch. Whoever holds a permission on the parent usually holds it on all that is in it. It may differ where
 * conditions see the path and labels of an item, or a project is suspended: then each item is authorised like a single request. An
 * item that names another parent is authorised as if it were in the parent of the batch, and the handler refuses it.
 *
 * @param parent on which the batch is authorised.
 * @returns the decisions about items to make again under the locks of the write, where the parent may not decide. They look up each item
 *   by its path, as the write does.
 * @throws ServiceError PATH_INVALID with all invalid paths, PERMISSION_DENIED with the index of the first item that is denied.
 */
export async function authoriseItems(
  { decide, mayDifferInside }: CallerAuthoriser,
  permissionsOf: PermissionsOfItem,
  parent: ResolvedTarget,
  { patterns, paths, reads }: BatchItems,
): Promise<ItemDecision[]> {
  const pattern = required(patterns.find((each) => isChildOf(each, parent.pattern)));
  const known = new Map<string, boolean>();
  const mustDecide = (permission: string): boolean => {
    const must = known.get(permission) ?? mayDifferInside(permission, parent, pattern);
    known.set(permission, must);
    return must;
  };
  const some = paths.slice(0, maxItems);
  if (reads && !some.some((_path, index) => permissionsOf(index).some(mustDecide))) return [];
  const read = await checkItems(some, (path, index) => {
    const permissions = permissionsOf(index);
    try {
      const last = parseResourcePath(pattern, path, `paths[${index}]`, "above-id").slice(-1);
      return Promise.resolve({ index, permissions, references: [...parent.references, ...last] });
    } catch (error) {
      if (permissions.some(mustDecide)) throw error;
      // The handler refuses the item, after the validation.
      return Promise.resolve({ index, permissions: [], references: [] });
    }
  });
  const decisions: ItemDecision[] = [];
  for (const { index, permissions, references } of read) {
    for (const permission of permissions) {
      const [requirement, path] = [
        { permission, listVisibility: "never" },
        { pattern, references },
      ] as const;
      if (mustDecide(permission)) await atPath(index, () => decide(requirement, path));
      decisions.push({ index, requirement, path });
    }
  }
  return decisions;
}

function isChildOf(pattern: PathPattern, parent: PathPattern): boolean {
  return pattern.length === parent.length + 1 && parent.every((collection, level) => collection === pattern[level]);
}
