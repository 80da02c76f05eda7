// Inserts single rows: most writes create one resource. The row, its labels and the count of its parent are one statement, which
// is put together once for each set of columns.
import { type RawBuilder, type Transaction, sql } from "kysely";
import type { OrgKey } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { type StatementTemplate, createStatementTemplate } from "../../database/statement-template.ts";
import { required } from "../../errors/required.ts";
import type { ResourceDefinition } from "../definition/definition.ts";
import { additionToCount } from "./counts.ts";
import { idOf, parentIdOf } from "./row-key.ts";

/** The stored row, and the new count of its parent. */
type Inserted = { readonly new_count: string } & Readonly<Record<string, unknown>>;

/** By the columns, and whether the row has labels. There are few for each resource. */
const statements = new WeakMap<ResourceDefinition, Map<string, StatementTemplate<Inserted>>>();

/**
 * Inserts a row of a resource that is counted, its labels into the index, and adds it to the count of its parent.
 *
 * @param row the value of each column; undefined for one that gets its default.
 * @param labels those for the index.
 * @returns the columns that the definition names, and the new count of the parent.
 */
export async function insertRow(
  db: Transaction<Schema>,
  org: OrgKey,
  definition: ResourceDefinition,
  row: Readonly<Record<string, unknown>>,
  labels: Readonly<Record<string, string>>,
): Promise<{ readonly row: object; readonly count: number }> {
  const columns = Object.keys(row).filter((column) => row[column] !== undefined);
  const labelKeys = Object.keys(labels);
  const ofDefinition = statements.get(definition) ?? new Map<string, StatementTemplate<Inserted>>();
  statements.set(definition, ofDefinition);
  const key = `${columns.join(" ")} ${labelKeys.length > 0}`;
  const statement = ofDefinition.get(key) ?? createInsert(definition, columns, labelKeys.length > 0);
  ofDefinition.set(key, statement);
  const counted = row[required(definition.storage.countedBy)];
  const ofLabels = [parentIdOf(definition, row), idOf(definition, row), labelKeys, Object.values(labels)];
  const values = [org.customer_id, org.id, counted, ...ofLabels, ...columns.map((column) => row[column])];
  const { rows } = await db.executeQuery(statement(db, values));
  const { new_count: count, ...inserted } = required(rows[0]);
  return { row: inserted, count: Number(count) };
}

function createInsert(
  { type, storage }: ResourceDefinition,
  columns: readonly string[],
  hasLabels: boolean,
): StatementTemplate<Inserted> {
  const namesOf = (some: readonly string[]): RawBuilder<unknown> => sql.join(some.map((column) => sql.ref(column)));
  const build = (
    org: OrgKey,
    countedId: unknown,
    [parentId, id, keys, labels]: readonly unknown[],
    values: readonly unknown[],
  ): RawBuilder<Inserted> => sql`
    with counted as ${additionToCount({ type, org, parentId: countedId as string }, 1)}
    ${hasLabels ? labelled(org, type, parentId, id, keys, labels) : sql``}
    insert into ${sql.table(storage.table)} (${namesOf(columns)}) values (${sql.join(values)})
    returning ${namesOf(storage.columns)}, (select count from counted) as new_count`;
  return createStatementTemplate(7 + columns.length, (db, [customerId, orgId, countedId, ...rest]) => {
    const org = { customer_id: customerId as string, id: orgId as string };
    return build(org, countedId, rest.slice(0, 4), rest.slice(4)).compile(db);
  });
}

/** The rest of a WITH clause, which inserts labels into their index. */
function labelled(
  org: OrgKey,
  type: string,
  parentId: unknown,
  id: unknown,
  keys: unknown,
  labels: unknown,
): RawBuilder<unknown> {
  return sql`,
    labelled as (
      insert into resource_labels (customer_id, org_id, resource_type, key, value, parent_id, resource_id)
      select ${org.customer_id}::uuid, ${org.id}::uuid, ${type}, label.*, ${parentId}::uuid, ${id}::uuid from unnest(${keys}::text[], ${labels}::text[]) as label
    )`;
}
