// Counts and labels derived from the rows of all resources. What the write path maintains incrementally must always equal this.
import { type Kysely, type RawBuilder, type Transaction, sql } from "kysely";
import type { Schema } from "../../src/database/schema.ts";
import { nowhere } from "./nowhere.ts";
import { isInOrg, keepsDeleted, parentColumnOf } from "../../src/standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../src/standard-methods/definition/registry.ts";

/** A count or label that differs from what the rows yield. */
interface Drift {
  readonly kind: "count" | "label";
  /** The row of `resource_counts` or `resource_labels`, without its `count`. */
  readonly row: Readonly<Record<string, string>>;
  readonly kept: number;
  readonly counted: number;
}

/**
 * Compares the stored counts and labels with the rows. Leaves out orgs that are being removed, because their contents are
 * removed in batches.
 */
export async function findDrift(db: Kysely<Schema>, registry: ResourceRegistry): Promise<Drift[]> {
  const columns = sql`org_id, parent_id, resource_type`;
  const { rows: counts } = await sql<Record<string, string> & Compared>`
    select ${columns}, coalesce(kept.count, 0)::int as kept, coalesce(counted.count, 0)::int as counted
    from resource_counts as kept full join (${countRows(registry)}) as counted using (${columns})
    where coalesce(kept.count, 0) <> coalesce(counted.count, 0) and ${isKept}`.execute(db);
  const labelColumns = sql`org_id, resource_type, key, value, parent_id, resource_id`;
  const { rows: labels } = await sql<Record<string, string> & Compared>`
    select ${labelColumns}, coalesce(kept.one, 0) as kept, coalesce(labelled.one, 0) as counted
    from (select *, 1 as one from resource_labels) as kept
    full join (select *, 1 as one from (${labelRows(registry)}) as each) as labelled using (${labelColumns})
    where (kept.one is null or labelled.one is null) and ${isKept}`.execute(db);
  const driftOf =
    (kind: Drift["kind"]) =>
    ({ kept, counted, ...row }: Record<string, string> & Compared) =>
      ({ kind, row: row as Record<string, string>, kept, counted }) satisfies Drift;
  return [...counts.map(driftOf("count")), ...labels.map(driftOf("label"))];
}

interface Compared {
  readonly kept: number;
  readonly counted: number;
}

const isKept = sql`not exists (select from orgs where orgs.id = org_id and orgs.purge_time <= now())`;

/** Recomputes counts and labels, for rows that the service did not write. Those of a customer have it in the place of an org. Locks both tables. */
export async function rebuildDerivedRows(db: Transaction<Schema>, registry: ResourceRegistry): Promise<void> {
  await sql`lock table resource_counts, resource_labels in exclusive mode`.execute(db);
  await sql`delete from resource_counts`.execute(db);
  await sql`
    insert into resource_counts (customer_id, org_id, parent_id, resource_type, count)
    select coalesce(orgs.customer_id, org_id), org_id, parent_id, resource_type, count
    from (${countRows(registry)}) as counted left join orgs on orgs.id = org_id`.execute(db);
  await sql`delete from resource_labels`.execute(db);
  await sql`
    insert into resource_labels (customer_id, org_id, resource_type, key, value, parent_id, resource_id)
    select case resource_type when 'Customer' then resource_id else coalesce(orgs.customer_id, org_id) end,
      org_id, resource_type, key, value, parent_id, resource_id
    from (${labelRows(registry)}) as labelled
    left join orgs on orgs.id = case resource_type when 'Org' then resource_id else org_id end`.execute(db);
}

function countRows({ definitions }: ResourceRegistry): RawBuilder<unknown> {
  const selects = definitions.flatMap((definition) => {
    const { type, storage } = definition;
    if (storage.countedBy === undefined) return [];
    const live = keepsDeleted(definition) ? sql`where delete_time is null` : sql``;
    return sql`
      select org_id, ${sql.ref(storage.countedBy)} as parent_id, ${type}::text as resource_type, count(*) as count
      from ${sql.table(storage.table)} ${live} group by 1, 2`;
  });
  return sql.join(selects, sql` union all `);
}

function labelRows({ definitions }: ResourceRegistry): RawBuilder<unknown> {
  const selects = definitions.flatMap((definition) => {
    const { type, storage } = definition;
    if (storage.labels !== "indexed") return [];
    const org = isInOrg(definition) ? sql.ref("org_id") : sql`${nowhere}::uuid`;
    const column = parentColumnOf(definition);
    const parent = column === undefined ? sql`null` : sql.ref(column);
    return sql`
      select ${org} as org_id, ${type}::text as resource_type, label.key, label.value,
        coalesce(${parent}, ${nowhere}::uuid) as parent_id, ${sql.ref(storage.id)} as resource_id
      from ${sql.table(storage.table)} as labelled cross join lateral jsonb_each_text(labelled.labels) as label`;
  });
  return sql.join(selects, sql` union all `);
}
