// What tables keep, as a file of the snapshot has it. A table lists its parts. What it can compute again is in none.

export type StoredArray = Int32Array | Uint16Array;

export interface ArraysState {
  /** The numbers without which the arrays cannot be used. */
  readonly numbers: readonly number[];
  readonly arrays: readonly StoredArray[];
}

/** The state of a part at one moment. Its arrays do not change until they are released. */
export interface SharedArrays extends ArraysState {
  readonly release: () => void;
}

/** A part that is copied as it is in memory. */
export interface ArraysPart {
  readonly kind: "arrays";
  /** Says how to read the arrays: a part takes over only what a part with the same layout had. */
  readonly layout: string;
  /** Returns the state at this moment. Until it is released, the table changes copies of the arrays. */
  readonly share: () => SharedArrays;
  readonly adopt: (state: ArraysState) => void;
}

/** A part that is small, usually. */
export interface RowsPart {
  readonly kind: "rows";
  readonly layout: string;
  /** Returns values that `v8.serialize` takes. */
  readonly rows: () => Iterable<unknown>;
  /** Adds a row to an empty table, in the order of `rows`. */
  readonly add: (row: unknown) => void;
}

export type StoredPart = ArraysPart | RowsPart;

export function createRowsPart<Row>(
  layout: string,
  rows: () => Iterable<Row>,
  add: (row: Row) => void,
): readonly [RowsPart] {
  return [{ kind: "rows", layout, rows, add: (row) => add(row as Row) }];
}

export function createNumbersPart<Numbers extends readonly number[]>(
  layout: string,
  read: () => Numbers,
  write: (numbers: Numbers) => void,
): readonly [ArraysPart] {
  const share = (): SharedArrays => ({ numbers: read(), arrays: [], release: () => {} });
  return [{ kind: "arrays", layout, share, adopt: ({ numbers }) => write(numbers as Numbers) }];
}
