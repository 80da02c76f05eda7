// Rows to insert, as a select from arrays. A list of values has a parameter for each value: PostgreSQL parses and plans it each time,
// which takes it a third as long as the insert itself. The text of a select is the same for any number of rows, so it is planned once.
import { type RawBuilder, sql } from "kysely";

type Row = Readonly<Record<string, unknown>>;

/** The rows of an insert: `insert into table (columns) select ...`. */
interface SelectedRows {
  readonly columns: readonly string[];
  readonly select: RawBuilder<unknown>;
}

/**
 * Returns rows of a table as a select. A value that all rows have is sent once, the others as one array for each column.
 *
 * @param expressions what to insert into a column, made from the value of a row.
 * @returns undefined if the rows do not all have the same columns, or have values that no array holds.
 */
export function selectRows(
  table: string,
  rows: readonly object[],
  expressions: Readonly<Record<string, (value: RawBuilder<unknown>) => RawBuilder<unknown>>> = {},
): SelectedRows | undefined {
  const all = rows as readonly Row[];
  const columns = columnsOf(all[0] ?? {});
  if (all.some((row) => columnsOf(row).length !== columns.length)) return undefined;
  const own: string[] = [];
  for (const column of columns) {
    const first = all[0]?.[column];
    if (all.every((row) => row[column] === first)) {
      if (!isScalar(first) && !Array.isArray(first)) return undefined;
    } else if (all.every((row) => isScalar(row[column]))) own.push(column);
    else return undefined;
  }
  if (own.length === 0) return undefined;
  const isOwn = new Set(own);
  // A column without rows gives the parameter its type.
  const arrays = own.map((column) => {
    const values = all.map((row) => row[column]);
    return sql`coalesce(${values}, array(select ${sql.ref(column)} from ${sql.table(table)} where false))`;
  });
  const selected = columns.map((column) => {
    const value = isOwn.has(column) ? sql.ref(`given.${column}`) : sql`${all[0]?.[column]}`;
    return expressions[column]?.(value) ?? value;
  });
  const names = own.map((column) => sql.id(column));
  return {
    columns,
    select: sql`select ${sql.join(selected)} from unnest(${sql.join(arrays)}) as given (${sql.join(names)})`,
  };
}

/** Returns the columns that get a value. The others get their defaults. */
function columnsOf(row: Row): string[] {
  return Object.keys(row).filter((column) => row[column] !== undefined);
}

/** Whether a value can be an element of an array. An array in an array would be another dimension; an expression is no value. */
function isScalar(value: unknown): boolean {
  if (value === null || value instanceof Date || Buffer.isBuffer(value)) return true;
  return value !== undefined && typeof value !== "object" && typeof value !== "function";
}
