import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { Schema } from "../database/schema.ts";
import { required } from "../errors/required.ts";
import type {
  OwnColumns,
  ResourceRow,
  ResourceTable,
  TypedDefinition,
} from "../standard-methods/definition/definition.ts";
import type { NamedFields } from "../standard-methods/named-fields.ts";
import { readByKeys } from "../standard-methods/read/row-reader.ts";
import { insertRows } from "../standard-methods/rows/insert-rows.ts";
import { recordChange } from "../standard-methods/write/append-change.ts";

/**
 * Inserts one resource and records it in the change log.
 *
 * @param joined the columns of a read beyond the resource's own. Without them the row is read after the insertion.
 */
export async function insertOne<Table extends ResourceTable, Row extends ResourceRow>(
  transaction: OrgTransaction,
  definition: TypedDefinition<Table, Row>,
  fields: NamedFields,
  columns: OwnColumns<Table>,
  joined?: Omit<Row, keyof Schema[Table]>,
): Promise<Row> {
  const { db, org, revision, time, newId } = transaction;
  const { rows } = await insertRows({ db, org, revision, time, newId }, definition, [{ fields, columns }]);
  const whole = joined && rows.map((row) => ({ ...row, ...joined }) as unknown as Row);
  const [row] = whole ?? (await readByKeys(db, definition, rows));
  recordChange(transaction, definition, null, required(row));
  return required(row);
}
