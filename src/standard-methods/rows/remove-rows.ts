// Permanently removes rows and the rows that refer to them, and updates counts and labels. The database has no cascades; the
// references in the definitions determine which rows are removed together.
import { type RawBuilder, type SqlBool, type Transaction, sql } from "kysely";
import type { OrgKey } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { nowhere } from "../../filters/label-index.ts";
import { type ResourceDefinition, parentColumnOf } from "../definition/definition.ts";
import type { ResourceRegistry } from "../definition/registry.ts";
import { addToCounts, forgetCounts } from "./counts.ts";
import { idOf, isOneOf, led } from "./row-key.ts";

/** Removes rows of a resource in an org by their keys, with all rows that refer to them. */
export async function removeRows(
  db: Transaction<Schema>,
  registry: ResourceRegistry,
  definition: ResourceDefinition,
  org: OrgKey,
  rows: readonly object[],
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map((row) => idOf(definition, row));
  await removeDependents(db, registry, definition, org, ids);
  await removeWhere(db, definition, org, isOneOf(definition, rows));
  if (registry.isReferredTo(definition.type)) await forgetCounts(db, org, ids);
}

/** Removes the rows that refer to rows of a resource, and do not keep them. */
async function removeDependents(
  db: Transaction<Schema>,
  registry: ResourceRegistry,
  { type }: ResourceDefinition,
  org: OrgKey,
  ids: readonly string[],
): Promise<void> {
  for (const { definition, column } of registry.dependentsOf(type)) {
    const { table, id } = definition.storage;
    const refers = led(definition, org, sql`org_id = ${org.id} and ${sql.ref(column)} = any(${ids}::uuid[])`);
    const deeper = registry.isReferredTo(definition.type);
    if (deeper) {
      const { rows } = await sql<{ id: string }>`
        select ${sql.ref(id)} as id from ${sql.table(table)} where ${refers}`.execute(db);
      const found = rows.map((row) => row.id);
      await removeDependents(db, registry, definition, org, found);
      await forgetCounts(db, org, found);
    }
    await removeWhere(db, definition, org, refers);
  }
}

/**
 * Removes the rows of an org that match a condition, but not the rows that refer to them.
 *
 * @param place the org of the rows; for customers and orgs, where their labels are.
 * @returns the number of removed rows.
 */
export async function removeWhere(
  db: Transaction<Schema>,
  definition: ResourceDefinition,
  place: OrgKey,
  condition: RawBuilder<SqlBool>,
): Promise<number> {
  const { type, storage } = definition;
  const { table, id, countedBy, labels } = storage;
  const counted = countedBy === undefined ? sql`null::uuid` : sql.ref(countedBy);
  const column = parentColumnOf(definition);
  const parent = column === undefined ? sql`null::uuid` : sql.ref(column);
  const isLive = definition.lifecycle === undefined ? sql`true` : sql`delete_time is null`;
  const kept = labels === "indexed" ? sql.ref("labels") : sql`'{}'::jsonb`;
  const { rows } = await sql<Removed>`
    with removed as (
      delete from ${sql.table(table)} where ${led(definition, place, condition)}
      returning ${counted} as parent_id, ${sql.ref(id)} as id,
        coalesce(${parent}, ${nowhere}::uuid) as labelled_in, ${kept} as labels, ${isLive} as is_live
    )
    select parent_id, count(*)::int as count, count(*) filter (where is_live)::int as live,
      jsonb_agg(jsonb_build_object('id', id, 'labelled_in', labelled_in, 'labels', labels)) filter (where labels <> '{}') as labelled
    from removed group by parent_id`.execute(db);
  for (const { labelled } of rows) if (labelled !== null) await removeLabels(db, type, place, labelled);
  const differences = rows.flatMap(({ parent_id: parentId, live }) =>
    parentId === null || live === 0 ? [] : [[parentId, -live] as const],
  );
  await addToCounts(db, type, place, new Map(differences));
  return rows.reduce((sum, { count }) => sum + count, 0);
}

/** The removed rows of one parent. */
interface Removed {
  readonly parent_id: string | null;
  readonly count: number;
  readonly live: number;
  /** The id, direct parent and labels of each row that had labels. */
  readonly labelled: readonly Labelled[] | null;
}

interface Labelled {
  readonly id: string;
  readonly labelled_in: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Deletes the labels of removed rows. This is a separate statement because the removal may have waited for a transaction that
 * changed the labels of a row, and the snapshot of its statement would have the old ones. The number of labels is in the arrays, so that the
 * planner looks up few of them one by one.
 */
async function removeLabels(
  db: Transaction<Schema>,
  type: string,
  place: OrgKey,
  labelled: readonly Labelled[],
): Promise<void> {
  const gone = labelled.flatMap(({ id, labelled_in: parent, labels }) =>
    Object.entries(labels).map(([key, value]) => ({ key, value, parent, id })),
  );
  const [keys, values] = [gone.map(({ key }) => key), gone.map(({ value }) => value)];
  const [parents, ids] = [gone.map(({ parent }) => parent), gone.map(({ id }) => id)];
  await sql`
    delete from resource_labels as kept
    using unnest(${keys}::text[], ${values}::text[], ${parents}::uuid[], ${ids}::uuid[]) as gone (key, value, parent_id, id)
    where kept.customer_id = ${place.customer_id} and kept.org_id = ${place.id} and kept.resource_type = ${type}
      and kept.key = gone.key and kept.value = gone.value and kept.parent_id = gone.parent_id and kept.resource_id = gone.id`.execute(
    db,
  );
}
