import { type SqlBool, type Updateable, sql } from "kysely";
import { type OrgKey, customerColumnOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { type StatementTemplate, createStatementTemplate } from "../../database/statement-template.ts";
import {
  type ResourceDefinition,
  type TypedDefinition,
  type ResourceRow,
  type ResourceTable,
  isNamed,
} from "../definition/definition.ts";
import { type NamedFields, namedColumns } from "../named-fields.ts";
import { required } from "../../errors/required.ts";
import { type StoredRow, type WriteTarget, labelsOf } from "./insert-rows.ts";
import { keepLabels } from "./labels.ts";
import { idOf, labelPlaceOf, parentIdOf } from "./row-key.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";

/** An update of a row: the fields of its message, if it is a named resource, and its own columns. */
export interface RowChange<Table extends ResourceTable> {
  readonly fields?: NamedFields;
  readonly columns: Updateable<Schema[Table]>;
}

/** Updates a row and its labels. Returns its own columns after the update. */
export async function updateRow<Table extends ResourceTable, Row extends ResourceRow>(
  { db, org, revision, time }: WriteTarget,
  definition: TypedDefinition<Table, Row>,
  row: Row,
  { fields, columns }: RowChange<Table>,
): Promise<StoredRow<Table>> {
  const { type, storage } = definition;
  const values = {
    ...(isNamed(definition) && namedColumns(required(fields))),
    ...columns,
    changed_revision: revision,
    update_time: time,
  };
  const updated = await setColumns(db, org, definition, row, values);
  if (storage.labels === "indexed") {
    const [id, parentId] = [idOf(definition, updated), parentIdOf(definition, updated)];
    keepLabels(db, type, labelPlaceOf(definition, org, updated), [
      { id, parentId, before: labelsOf(row), after: labelsOf(updated) },
    ]);
  }
  return updated;
}

async function setColumns<Table extends ResourceTable, Row extends ResourceRow>(
  db: WriteTransaction,
  org: OrgKey | undefined,
  definition: TypedDefinition<Table, Row>,
  row: Row,
  values: Readonly<Record<string, unknown>>,
): Promise<StoredRow<Table>> {
  const columns = Object.keys(values).filter((column) => values[column] !== undefined);
  const ofDefinition = statements.get(definition) ?? new Map<string, StatementTemplate<object>>();
  statements.set(definition, ofDefinition);
  const key = columns.join(" ");
  const statement = ofDefinition.get(key) ?? createUpdate(definition, columns);
  ofDefinition.set(key, statement);
  const { table, key: ownKey } = definition.storage;
  const ofKey = ownKey.map((column) => (row as Readonly<Record<string, unknown>>)[column]);
  const leading = customerColumnOf(table) === undefined ? [] : [required(org).customer_id];
  const { rows } = await db.executeQuery(
    statement(db, [...leading, ...ofKey, ...columns.map((column) => values[column])]),
  );
  return required(rows[0]) as StoredRow<Table>;
}

/** By the columns that are set. There are few for each resource. */
const statements = new WeakMap<ResourceDefinition, Map<string, StatementTemplate<object>>>();

function createUpdate({ storage }: ResourceDefinition, columns: readonly string[]): StatementTemplate<object> {
  const { table } = storage;
  const customer = customerColumnOf(table);
  const key = customer === undefined ? storage.key : [customer, ...storage.key];
  return createStatementTemplate(key.length + columns.length, (db, placeholders) => {
    const values = columns.map((column, index) => [column, placeholders[key.length + index]]);
    const isRow = key.map((column, index) => sql`${sql.ref(`${table}.${column}`)} = ${placeholders[index]}`);
    // Kysely types a statement for a specific table; this one is written for members and works for all tables.
    return db
      .updateTable(table as "members")
      .set(Object.fromEntries(values) as object)
      .where(sql<SqlBool>`(${sql.join(isRow, sql` and `)})`)
      .returning(storage.columns as never)
      .compile();
  });
}
