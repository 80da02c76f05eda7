// Does something to several rows, one after the other.

/** What was not done to a row, and why, as the service says it. */
interface Failure<Row> {
  readonly row: Row;
  readonly error: unknown;
}

export interface Outcome<Row> {
  readonly total: number;
  readonly done: number;
  readonly failures: readonly Failure<Row>[];
  /** Those that were not begun, because somebody stopped it. */
  readonly left: readonly Row[];
}

/** Whether it was done to all of them. */
export const isWhole = ({ total, done }: Outcome<unknown>): boolean => done === total;

/** Returns the rows to which it was not done. */
export const restOf = <Row>({ failures, left }: Outcome<Row>): readonly Row[] => [
  ...failures.map(({ row }) => row),
  ...left,
];

/**
 * Goes on after a row that fails.
 *
 * @param isStopped asked before each row.
 * @param onProgress called with the number of rows that have been tried.
 */
export async function runEach<Row>(
  rows: readonly Row[],
  act: (row: Row) => Promise<unknown>,
  isStopped: () => boolean,
  onProgress: (tried: number) => void,
): Promise<Outcome<Row>> {
  const failures: Failure<Row>[] = [];
  let tried = 0;
  for (const row of rows) {
    if (isStopped()) break;
    await act(row).catch((error: unknown) => failures.push({ row, error }));
    tried += 1;
    onProgress(tried);
  }
  return { total: rows.length, done: tried - failures.length, failures, left: rows.slice(tried) };
}
