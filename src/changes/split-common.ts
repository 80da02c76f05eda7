/** Rows as JSON. */
interface SplitRows {
  /** The columns that all rows have, with the same value. */
  readonly common: string;
  /** The other columns of each row; null where there is no row. */
  readonly own: readonly (string | null)[];
}

type Row = Readonly<Record<string, unknown>>;

/** Splits rows into what they have in common, which is most of the rows of a batch, and the rest of each. */
export function splitCommon(rows: readonly (object | null)[]): SplitRows {
  const [first = {}, ...others] = rows.filter((row) => row !== null) as readonly Row[];
  const isCommon = (column: string): boolean => {
    const isSame = comparedTo(first[column]);
    return others.every((row) => isSame(row[column]));
  };
  const common = new Set(Object.keys(first).filter(isCommon));
  const pick = (row: object, isPicked: (column: string) => boolean): string =>
    JSON.stringify(Object.fromEntries(Object.entries(row).filter(([column]) => isPicked(column))));
  return {
    common: pick(first, (column) => common.has(column)),
    own: rows.map((row) => row && pick(row, (column) => !common.has(column))),
  };
}

/** Returns a function that tells whether a value is the same in JSON. */
function comparedTo(value: unknown): (other: unknown) => boolean {
  if (typeof value !== "object" || value === null) return (other) => other === value;
  if (value instanceof Date) {
    const time = value.getTime();
    return (other) => other instanceof Date && other.getTime() === time;
  }
  const json = JSON.stringify(value);
  return (other) => typeof other === "object" && JSON.stringify(other) === json;
}
