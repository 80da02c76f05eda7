// Permanently removes rows and the rows that refer to them, and updates counts and labels. The database has no cascades; the
// references in the definitions determine which rows are removed together.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { OrgKey } from "../../database/org-key.ts";
import type { Later, WriteTransaction } from "../../database/write-transaction.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import { type ResourceDefinition, parentColumnOf } from "../definition/definition.ts";
import type { ResourceRegistry } from "../definition/registry.ts";
import { addToCountsWithNext, forgetCounts } from "./counts.ts";
import { type Label, type LabelPlace, removeLabels } from "./labels.ts";
import { idOf, isOneOf, led } from "./row-key.ts";

/**
 * Removes rows of a resource in an org by their keys, with all rows that refer to them. Takes two ways to the database and back, and one more
 * for each kind of these to which others refer.
 */
export async function removeRows(
  db: WriteTransaction,
  registry: ResourceRegistry,
  definition: ResourceDefinition,
  org: OrgKey,
  rows: readonly object[],
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map((row) => idOf(definition, row));
  const dependents = await removeDependents(db, registry, definition, org, ids);
  const removal = removeWithNext(db, definition, org, isOneOf(definition, rows));
  await settle(db, [...dependents.removals, removal], () => {
    const parents = [...dependents.parents, ...(registry.isReferredTo(definition.type) ? ids : [])];
    if (parents.length > 0) forgetCounts(db, org, parents);
  });
}

/** Removals that are sent with the next statement. */
interface Removals {
  readonly removals: readonly Removal[];
  /** The ids of those rows to which others may refer, below which nothing is left to count. */
  readonly parents: readonly string[];
}

/** Removes, with the next statement, the rows that refer to rows of a resource, and do not keep them. */
async function removeDependents(
  db: WriteTransaction,
  registry: ResourceRegistry,
  { type }: ResourceDefinition,
  org: OrgKey,
  ids: readonly string[],
): Promise<Removals> {
  const removals: Removal[] = [];
  const parents: string[] = [];
  for (const { definition, column } of registry.dependentsOf(type)) {
    const { table, id } = definition.storage;
    const refers = led(definition, org, sql`org_id = ${org.id} and ${sql.ref(column)} = any(${ids}::uuid[])`);
    if (registry.isReferredTo(definition.type)) {
      const { rows } = await sql<{ id: string }>`
        select ${sql.ref(id)} as id from ${sql.table(table)} where ${refers}`.execute(db);
      const found = rows.map((row) => row.id);
      const deeper = await removeDependents(db, registry, definition, org, found);
      removals.push(...deeper.removals);
      parents.push(...deeper.parents, ...found);
    }
    removals.push(removeWithNext(db, definition, org, refers));
  }
  return { removals, parents };
}

/**
 * Removes the rows of an org that match a condition, but not the rows that refer to them.
 *
 * @param place the org of the rows; for customers and orgs, where their labels are.
 */
export function removeWhere(
  db: WriteTransaction,
  definition: ResourceDefinition,
  place: LabelPlace,
  condition: RawBuilder<SqlBool>,
): Promise<void> {
  return settle(db, [removeWithNext(db, definition, place, condition)]);
}

/** A removal that is sent with the next statement. */
interface Removal {
  readonly type: ResourceType;
  readonly place: LabelPlace;
  readonly removed: Later<readonly Removed[]>;
}

function removeWithNext(
  db: WriteTransaction,
  definition: ResourceDefinition,
  place: LabelPlace,
  condition: RawBuilder<SqlBool>,
): Removal {
  const { type, storage } = definition;
  const { table, id, countedBy, labels } = storage;
  const counted = countedBy === undefined ? sql`null::uuid` : sql.ref(countedBy);
  const column = parentColumnOf(definition);
  const parent = column === undefined ? sql`null::uuid` : sql.ref(column);
  const isLive = definition.lifecycle === undefined ? sql`true` : sql`delete_time is null`;
  const kept = labels === "indexed" ? sql.ref("labels") : sql`'{}'::jsonb`;
  const statement = sql<Removed>`
    with removed as (
      delete from ${sql.table(table)} where ${led(definition, place, condition)}
      returning ${counted} as parent_id, ${sql.ref(id)} as id,
        ${parent} as labelled_in, ${kept} as labels, ${isLive} as is_live
    )
    select parent_id, count(*) filter (where is_live)::int as live,
      jsonb_agg(jsonb_build_object('id', id, 'labelled_in', labelled_in, 'labels', labels)) filter (where labels <> '{}') as labelled
    from removed group by parent_id`;
  return { type, place, removed: db.sendWithNext(statement.compile(db)) };
}

/**
 * Sends removals, and then together what follows from them: the labels of the rows go, and the counts of their parents.
 *
 * @param follow sends more with the next statement.
 * @throws Error when rows were removed that had not been counted.
 */
async function settle(db: WriteTransaction, removals: readonly Removal[], follow?: () => void): Promise<void> {
  await db.sendHeld();
  const counts = removals.map(({ type, place, removed }) => {
    const rows = removed();
    for (const { labelled } of rows) if (labelled !== null) removeLabels(db, type, place, labelled.flatMap(labelsOf));
    // Customers and orgs are in no count.
    if (place.id === undefined) return () => {};
    const differences = rows.flatMap(({ parent_id: parentId, live }) =>
      parentId === null || live === 0 ? [] : [[parentId, -live] as const],
    );
    return addToCountsWithNext(db, type, place, new Map(differences));
  });
  follow?.();
  await db.sendHeld();
  for (const check of counts) check();
}

/** The removed rows of one parent. */
interface Removed {
  readonly parent_id: string | null;
  readonly live: number;
  /** The id, direct parent and labels of each row that had labels. */
  readonly labelled: readonly Labelled[] | null;
}

interface Labelled {
  readonly id: string;
  readonly labelled_in: string | null;
  readonly labels: Readonly<Record<string, string>>;
}

function labelsOf({ id, labelled_in: parentId, labels }: Labelled): Label[] {
  return Object.entries(labels).map(([key, value]) => ({ id, parentId, key, value }));
}
