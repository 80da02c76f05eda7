import { type Compilable, type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { type PathLevel, matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Column } from "../filters/filter-fields.ts";
import { comesAfter, orderExpressions, withoutFixed } from "../filters/keyset.ts";
import { type LabelIndex, hasLabels, nowhere, selectLabelled } from "../filters/label-index.ts";
import type { ResourceType } from "../paths/patterns.ts";
import type { VisibleOrgs } from "../access/authorise.ts";
import type { FilterSql } from "../filters/to-sql.ts";
import type { OrderKey } from "../filters/parse-order-by.ts";
import type { Reference } from "../paths/resource-path.ts";
import type { ParentLevel } from "./definition.ts";
import type { Cursor } from "./page-token.ts";
import type { RowsQuery } from "./path-lookup.ts";

/** What to list. */
export interface Selection {
  readonly parent: readonly Reference[];
  readonly showDeleted: boolean;
  /** What may be shown of all orgs; undefined for everything. */
  readonly visible: VisibleOrgs | undefined;
  readonly condition: FilterSql;
  readonly order: readonly OrderKey[];
  readonly after: Cursor | undefined;
  readonly limit: number;
}

/** How the rows of a kind are listed. */
export interface Listing<Row> {
  /** All rows of the kind, joined with those that their paths go through. */
  readonly rows: RowsQuery<Row>;
  /** The levels of the parent's path, from the top, each with the column of the rows that holds its id. */
  readonly parents: readonly (Pick<ParentLevel, "column"> & PathLevel)[];
  /** The rows' table. */
  readonly table: string;
  /** Rows for which this does not hold are left out, unless deleted ones are asked for. */
  readonly live?: Expression<SqlBool>;
  /** What is found by its labels, and its id; it is in an org, or in nothing. */
  readonly labelled?: { readonly type: ResourceType; readonly id: Column };
}

/**
 * Reads the rows of a page: the first ones below the parent that are asked for and come after the cursor, by key. Of one
 * parent, under any order and by labels, that costs what the page costs, however many rows there are; other filters look at
 * every row until the page is full.
 */
export async function readPage<Row>(db: Kysely<Schema>, listing: Listing<Row>, selection: Selection): Promise<Row[]> {
  const statement = pageStatement(listing, selection);
  if (selection.parent.every(({ by }) => by !== "any")) return (await statement.execute(db)).rows;
  return db.transaction().execute(async (transaction) => {
    // Where rows of several parents are read in the order of their keys, each is to be looked up in its turn. The planner
    // would rather merge whole tables, and by the org alone if all that it has seen are in one.
    await sql`set local enable_mergejoin = off`.execute(transaction);
    return (await statement.execute(transaction)).rows;
  });
}

function pageStatement<Row>(listing: Listing<Row>, selection: Selection): RawBuilder<Row> {
  const { table, parents, live, labelled } = listing;
  const { parent, condition, showDeleted, limit } = selection;
  const fixed = parents.flatMap(({ column }, level): Column[] =>
    parent[level]?.by === "id" ? [`${table}.${column}`] : [],
  );
  const position = withoutFixed(selection, fixed);
  const { order, after } = position;
  const below = sql<SqlBool>`${matchesPath(parents, parent)} and ${isVisible(selection)}`;

  const { labels, others } = condition;
  const [key, ...moreKeys] = order;
  const isOneParent = parent.every(({ by }) => by === "id");
  const index = labels.length > 0 && labelled !== undefined ? labelIndexOf(labelled.type, listing, parent) : undefined;
  if (labelled !== undefined && index !== undefined && isOneParent && key !== undefined && moreKeys.length === 0) {
    // In the order of the index: it is read from where the page begins, and each row looked up until there are enough. Left
    // to the planner, a label that is rarer than it thinks has all rows read.
    const ids = selectLabelled(index, labels, (id) => comesAfter([{ ...key, column: id }], after));
    const isIt = sql<SqlBool>`${sql.ref(labelled.id)} = labelled.id`;
    const row = where(listing, [below, ...(showDeleted || !live ? [] : [live]), others, isIt]);
    return sql<Row>`
      select found.* from (${ids}) as labelled cross join lateral (${row} limit 1) as found
      order by ${orderExpressions([{ ...key, column: "labelled.id" }])} limit ${limit}`;
  }
  const filters = labelled && index ? [others, hasLabels(index, labels, labelled.id)] : [condition];
  const page = (parts: readonly Expression<SqlBool>[]): RawBuilder<Row> => {
    const found = where(listing, [below, comesAfter(order, after), ...filters, ...parts]);
    return sql<Row>`select * from ${found} as found order by ${orderExpressions(order, "found")} limit ${limit}`;
  };
  if (live === undefined) return page([]);
  if (!showDeleted) return page([live]);
  // By id all have one index; for other orders what lives and what is deleted each have their own.
  if (moreKeys.length === 0) return page([]);
  const both = sql`(${page([live])}) union all (${page([sql<SqlBool>`not (${live})`])})`;
  return sql<Row>`select * from (${both}) as found order by ${orderExpressions(order, "found")} limit ${limit}`;
}

/** Every listing has the org of its rows. */
function isVisible({ visible }: Selection): RawBuilder<SqlBool> {
  if (visible === undefined) return sql<SqlBool>`true`;
  const { orgIds, customerIds, suspendedOf } = visible;
  return sql<SqlBool>`(orgs.id = any (${orgIds}::uuid[]) or (orgs.customer_id = any (${customerIds}::uuid[])
    and (orgs.state = 'ACTIVE' or orgs.customer_id = any (${suspendedOf}::uuid[]))))`;
}

/** Kysely's builders are expressions; the narrow type that they come in here does not say so. */
function where<Row>({ rows }: Listing<Row>, conditions: readonly Expression<SqlBool>[]): Expression<Row> {
  const query: Compilable<Row> = rows.where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`);
  return query as unknown as Expression<Row>;
}

/** Undefined for lists that go through all orgs, which have no index of labels. */
function labelIndexOf(
  resourceType: ResourceType,
  { table, parents }: Listing<unknown>,
  path: readonly Reference[],
): LabelIndex | undefined {
  const [org, parent, level] = [path[0], path.at(-1), parents.at(-1)];
  if (org === undefined) return { resourceType, orgId: nowhere, parentId: sql`${nowhere}` };
  if (org.by !== "id" || parent === undefined || level === undefined) return undefined;
  const parentId = parent.by === "id" ? sql<string>`${parent.value}` : sql.ref<string>(`${table}.${level.column}`);
  return { resourceType, orgId: org.value, parentId };
}
