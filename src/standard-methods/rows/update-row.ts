import type { Transaction, Updateable } from "kysely";
import type { Schema } from "../../database/schema.ts";
import {
  type TypedDefinition,
  type ResourceRow,
  type ResourceTable,
  isInOrg,
  isNamed,
} from "../definition/definition.ts";
import { type NamedFields, namedColumns } from "../named-fields.ts";
import { required } from "../../errors/required.ts";
import { type StoredRow, type WriteTarget, labelsOf } from "./insert-rows.ts";
import { keepLabels } from "./labels.ts";
import { idOf, isOneOf, parentIdOf } from "./row-key.ts";

/** An update of a row: the fields of its message, if it is a named resource, and its own columns. */
export interface RowChange<Table extends ResourceTable> {
  readonly fields?: NamedFields;
  readonly columns: Updateable<Schema[Table]>;
}

/** Updates a row and its labels. Returns its own columns after the update. */
export async function updateRow<Table extends ResourceTable, Row extends ResourceRow>(
  { db, orgId, revision, time }: WriteTarget,
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
  const updated = await setColumns(db, definition, row, values);
  if (storage.labels === "indexed") {
    const [id, parentId] = [idOf(definition, updated), parentIdOf(definition, updated)];
    await keepLabels(db, type, isInOrg(definition) ? orgId : undefined, [
      { id, parentId, before: labelsOf(row), after: labelsOf(updated) },
    ]);
  }
  return updated;
}

async function setColumns<Table extends ResourceTable, Row extends ResourceRow>(
  db: Transaction<Schema>,
  definition: TypedDefinition<Table, Row>,
  row: Row,
  values: object,
): Promise<StoredRow<Table>> {
  const { table, columns } = definition.storage;
  // Kysely types a statement for a specific table; this one is written for members and works for all tables.
  const updated = await db
    .updateTable(table as "members")
    .set(values)
    .where(isOneOf(definition, [row]))
    .returning(columns as never)
    .executeTakeFirstOrThrow();
  return updated as unknown as StoredRow<Table>;
}
