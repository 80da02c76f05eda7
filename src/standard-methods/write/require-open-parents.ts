// Blocks writes in a resource that locks its contents while it is suspended or deleted.
import type { DescMessage } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { deleted } from "../../errors/service-error.ts";
import type { AtItem } from "../batch/batch-item.ts";
import type { ParentLevel, ResourceRow, ResourceTable, TypedDefinition } from "../definition/definition.ts";
import { stateForbids } from "../definition/lifecycle.ts";
import { readByKeys } from "../read/row-reader.ts";
import type { ServedResource } from "../rules.ts";

type ParentDefinition = TypedDefinition<ResourceTable, ResourceRow>;

/**
 * Checks that the contents of every parent of the rows may be written. The org is covered by its lock.
 *
 * @param rows with the columns that hold their parents' ids.
 * @param known parents that were read under the lock of the org, by id.
 * @throws ServiceError STATE_FORBIDS at the first row whose parent is suspended or deleted.
 */
export async function requireOpenParents<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
>(
  { place, dependencies: { registry } }: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  rows: readonly object[],
  atItem: AtItem,
  known: ReadonlyMap<string, ResourceRow> = new Map(),
): Promise<void> {
  for (const parent of place.parents) {
    if (parent.type === "Org") continue;
    const definition = registry.definitionOf(parent.type);
    if (definition.lifecycle?.contents !== "locked") continue;
    await requireOpen(transaction, definition as ParentDefinition, idsIn(parent, rows), atItem, known);
  }
}

/** @param ids of the parent of each row. */
async function requireOpen(
  { db, org }: OrgTransaction,
  definition: ParentDefinition,
  ids: readonly string[],
  atItem: AtItem,
  known: ReadonlyMap<string, ResourceRow>,
): Promise<void> {
  const distinct = [...new Set(ids)];
  const unread = distinct.filter((id) => !known.has(id));
  const keys = unread.map((id) => ({ org_id: org.id, [definition.storage.id]: id }));
  const found = unread.length === 0 ? [] : await readByKeys(db, definition, keys);
  const parents = new Map([...known, ...unread.map((id, index) => [id, found[index]] as const)]);
  const problems = new Map(distinct.map((id) => [id, problemOf(definition, parents.get(id))]));
  for (const [index, id] of ids.entries()) {
    const problem = problems.get(id);
    if (problem !== undefined) await atItem(index, () => Promise.reject(problem));
  }
}

function problemOf({ label, pathOf }: ParentDefinition, parent: ResourceRow | undefined): Error | undefined {
  if (parent === undefined) return new Error(`the parent ${label.one} of a row does not exist`);
  const path = pathOf(parent);
  if (parent.delete_time) return deleted(label.one, path);
  if (parent.state !== "SUSPENDED") return undefined;
  return stateForbids(`the ${label.one} ${path} is SUSPENDED: nothing in it can be changed`, path, "SUSPENDED");
}

const idsIn = ({ column }: ParentLevel, rows: readonly object[]): string[] =>
  rows.map((row) => (row as Readonly<Record<string, string>>)[column] ?? "");
