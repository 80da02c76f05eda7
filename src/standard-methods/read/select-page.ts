import { type Compilable, type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import { type PathLevel, matchesPath } from "../../database/match-reference.ts";
import type { Column } from "../../filters/filter-fields.ts";
import { comesAfter, orderExpressions, withoutFixed } from "../../filters/keyset.ts";
import { type LabelIndex, hasLabels, selectLabelled } from "../../filters/label-index.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { Visibility } from "../../access/evaluation/visibility.ts";
import type { FilterSql } from "../../filters/to-sql.ts";
import type { OrderKey } from "../../filters/parse-order-by.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ParentLevel } from "../definition/definition.ts";
import { visibilityCondition } from "./visibility-condition.ts";
import type { Cursor } from "./page-token.ts";
import type { RowsQuery } from "../../database/path-lookup.ts";

/** What a page selects. */
export interface Selection {
  readonly parent: readonly Reference[];
  readonly showDeleted: boolean;
  readonly visible: Visibility;
  readonly condition: FilterSql;
  readonly order: readonly OrderKey[];
  readonly after: Cursor | undefined;
  readonly limit: number;
}

/** How the rows of a resource are listed. */
export interface Listing<Row> {
  /** All rows of the resource, joined with the rows that their paths go through. */
  readonly rows: RowsQuery<Row>;
  /** The levels of the parent's path, from the top, each with the column that holds its id. */
  readonly parents: readonly (Pick<ParentLevel, "column"> & PathLevel)[];
  /** The table of the rows. */
  readonly table: string;
  /** Matches the rows that are not deleted. Other rows are left out unless deleted ones are requested. */
  readonly live?: Expression<SqlBool>;
  /** Whether connections keep the plans of pages without a filter, in the default order. */
  readonly isPlannedOnce: boolean;
  /** Set if the resource is in the label index: its type and id column. Its rows are in an org, or in no parent at all. */
  readonly labelled?: { readonly type: ResourceType; readonly id: Column };
}

/**
 * Returns the statement that reads the rows of a page, by key: the first rows below the parent that match the selection and come
 * after the cursor. For a single parent, the cost is proportional to the page under any order and for label filters, however many
 * rows there are. Other filters check each row until the page is full.
 */
export function selectPage<Row>(listing: Listing<Row>, selection: Selection): RawBuilder<Row> {
  const { table, parents, live, labelled } = listing;
  const { parent, condition, showDeleted, limit } = selection;
  const fixed = parents.flatMap(({ column }, level): Column[] =>
    parent[level]?.by === "id" ? [`${table}.${column}`] : [],
  );
  const position = withoutFixed(selection, fixed);
  const { order, after } = position;
  const shown = visibilityCondition(selection.visible, parents);
  const below = sql<SqlBool>`${sql.join([matchesPath(parents, parent), ...(shown ? [shown] : [])], sql` and `)}`;

  const { labels, others } = condition;
  const [key, ...moreKeys] = order;
  const isOneParent = parent.every(({ by }) => by === "id");
  const index = labels.length > 0 && labelled !== undefined ? labelIndexOf(labelled.type, listing, parent) : undefined;
  if (labelled !== undefined && index !== undefined && isOneParent && key !== undefined && moreKeys.length === 0) {
    // Read in index order from the start of the page, and look up each row until the page is full. If this were left to the
    // planner, it would read all rows for a label that is rarer than its estimate.
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
  // Order by id uses one index for all rows; other orders have an index of live rows and another of deleted rows.
  if (moreKeys.length === 0) return page([]);
  const both = sql`(${page([live])}) union all (${page([sql<SqlBool>`not (${live})`])})`;
  return sql<Row>`select * from (${both}) as found order by ${orderExpressions(order, "found")} limit ${limit}`;
}

/**
 * Adds conditions to the rows of a listing. Kysely's builders are expressions, but the narrow type used here does not show it.
 */
function where<Row>({ rows }: Listing<Row>, conditions: readonly Expression<SqlBool>[]): Expression<Row> {
  const query: Compilable<Row> = rows.where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`);
  return query as unknown as Expression<Row>;
}

/** Returns the label index for a path, or undefined for a list through all orgs, which the label index does not support. */
function labelIndexOf(
  resourceType: ResourceType,
  { table, parents }: Listing<unknown>,
  path: readonly Reference[],
): LabelIndex | undefined {
  const [org, parent, level] = [path[0], path.at(-1), parents.at(-1)];
  if (org === undefined) return { resourceType, within: undefined };
  if (org.by !== "id" || parent === undefined || level === undefined) return undefined;
  const parentId = parent.by === "id" ? sql<string>`${parent.value}` : sql.ref<string>(`${table}.${level.column}`);
  return { resourceType, within: { orgId: org.value, parentId } };
}
