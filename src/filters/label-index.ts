// The table `resource_labels` has a row for each label of each resource. Its key has the resources with one label in one parent
// in id order, so the cost of a page does not depend on how many there are, in this parent or others.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Column } from "./filter-fields.ts";
import type { LabelTest } from "./label-tests.ts";

/** The part of the table that a list reads. */
export interface LabelIndex {
  /** The type in the protos: `ApiKey`. */
  readonly resourceType: string;
  /** Undefined for customers and orgs, which are in no org: their labels are found by an index of their own. */
  readonly within: LabelledParent | undefined;
}

interface LabelledParent {
  readonly orgId: string;
  /** The id of the direct parent, or the column that holds it. */
  readonly parentId: RawBuilder<string>;
}

/** Returns the condition that the resource whose id is in this column passes the tests. */
export function hasLabels(index: LabelIndex, tests: readonly LabelTest[], id: Column): RawBuilder<SqlBool> {
  const conditions = tests.map(
    (test) => sql`exists (
      select from resource_labels as label where ${matches("label", index, test)} and label.resource_id = ${sql.ref(id)}
    )`,
  );
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}

/**
 * Selects the ids of the resources that pass the tests, as `id`.
 *
 * @param range the condition on an id that limits the page. It is applied to each table, so that none is read from its start.
 */
export function selectLabelled(
  index: LabelIndex,
  tests: readonly LabelTest[],
  range: (id: Column) => RawBuilder<SqlBool>,
): RawBuilder<{ id: string }> {
  const tables = tests.map((test, position) => ({ test, name: `label_${position}` }));
  const conditions = tables.flatMap(({ test, name }, position) => [
    matches(name, index, test),
    range(`${name}.resource_id`),
    ...(position > 0 ? [sql`${sql.ref(`${name}.resource_id`)} = label_0.resource_id`] : []),
  ]);
  const from = tables.map(({ name }) => sql`resource_labels as ${sql.id(name)}`);
  return sql`
    select label_0.resource_id as id from ${sql.join(from)} where ${sql.join(conditions, sql` and `)}`;
}

function matches(table: string, { resourceType, within }: LabelIndex, { key, value }: LabelTest): RawBuilder<SqlBool> {
  const columns = {
    ...(within !== undefined && { org_id: within.orgId }),
    // Not a parameter: the condition of the index of customers and orgs must follow from the text.
    resource_type: within === undefined ? sql.lit(resourceType) : resourceType,
    key,
    ...(value !== undefined && { value }),
    ...(within !== undefined && { parent_id: within.parentId }),
  };
  const equalities = Object.entries(columns).map(
    ([column, expected]) => sql`${sql.ref(`${table}.${column}`)} = ${expected}`,
  );
  return sql<SqlBool>`(${sql.join(equalities, sql` and `)})`;
}
