// The columns that tables share, by name. Rows are never selected with `*`: a prepared `*` fails on servers that are still
// running when a newer one adds a column.

/** Those of resources with a name of their own. */
export const namedColumns = [
  "id",
  "name",
  "display_name",
  "description",
  "labels",
  "changed_revision",
  "create_time",
  "update_time",
] as const;

/** Those of resources that stay readable when they are deleted. */
export const deletableColumns = ["delete_time", "purge_time"] as const;

/** Those that say when a row was written. */
export const versionColumns = ["changed_revision", "create_time", "update_time"] as const;

/** Columns as a select names them that joins several tables. */
export function columnsOf<const Table extends string, const Column extends string>(
  table: Table,
  columns: readonly Column[],
): `${Table}.${Column}`[] {
  return columns.map((column): `${Table}.${Column}` => `${table}.${column}`);
}
