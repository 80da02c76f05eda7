import type { DescMessage } from "@bufbuild/protobuf";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { AtItem } from "../batch/batch-item.ts";
import type { ResourceRow, ResourceTable, TypedDefinition } from "../definition/definition.ts";
import { limitExceeded } from "../definition/limits.ts";
import { countByParent } from "../rows/insert-rows.ts";
import type { ServedResource } from "../rules.ts";

/**
 * Checks that no parent exceeds the limit. The check is exact because the org's lock is held.
 *
 * @param counts the new counts of the parents of the rows, by parent id.
 * @throws ServiceError LIMIT_EXCEEDED at the first row beyond the limit of its parent.
 */
export async function requireRoom<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition, dependencies: { limits } }: ServedResource<Table, Row, Desc>,
  rows: readonly Row[],
  counts: ReadonlyMap<string, number>,
  atItem: AtItem,
): Promise<void> {
  const { type, storage } = definition;
  const limit = limits[type] ?? Infinity;
  if (Math.max(0, ...counts.values()) <= limit) return;
  const room = new Map<string, number>();
  for (const [parentId, added] of countByParent(definition, rows)) {
    room.set(parentId, limit - ((counts.get(parentId) ?? 0) - added));
  }
  for (const [index, row] of rows.entries()) {
    const parentId = (row as Record<string, unknown>)[storage.countedBy ?? ""] as string;
    const left = (room.get(parentId) ?? Infinity) - 1;
    room.set(parentId, left);
    if (left >= 0) continue;
    const error = limitExceeded(definition, countedPathOf(definition, row), limit);
    await atItem(index, () => Promise.reject(error));
  }
}

/** Returns the path of the parent in which a row is counted. That of a customer has it in the place of the org. */
function countedPathOf<Table extends ResourceTable, Row extends ResourceRow>(
  { storage, pathOf }: TypedDefinition<Table, Row>,
  row: Row,
): string {
  const isOfCustomer = "parent_customer_id" in row && row.parent_customer_id !== null;
  return storage.countedBy === "org_id" && !isOfCustomer
    ? formatPath(patterns.Org, orgPathName(row as Row & Parameters<typeof orgPathName>[0]))
    : pathOf(row).split("/").slice(0, -2).join("/");
}
