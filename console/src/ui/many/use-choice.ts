import { useRef, useState } from "react";

/** Which of the rows that a table shows are chosen. */
export interface Choice<Row> {
  /** In the order of the table. */
  readonly rows: readonly Row[];
  readonly has: (row: Row) => boolean;
  /** Chooses a row, or not. As a range, the same is done to all between it and the row that was chosen last. */
  readonly choose: (row: Row, isChosen: boolean, isRange: boolean) => void;
  readonly chooseOnly: (rows: readonly Row[]) => void;
}

/** Keeps what is chosen while the rows are read again. What is no longer shown is not chosen. */
export function useChoice<Row>(shown: readonly Row[], keyOf: (row: Row) => string): Choice<Row> {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const has = (row: Row): boolean => keys.has(keyOf(row));
  return {
    rows: shown.filter(has),
    has,
    choose(row, isChosen, isRange) {
      const next = new Set(shown.filter(has).map(keyOf));
      for (const each of isRange ? between(shown, row, last.current, keyOf) : [row]) {
        if (isChosen) next.add(keyOf(each));
        else next.delete(keyOf(each));
      }
      last.current = keyOf(row);
      setKeys(next);
    },
    chooseOnly(rows) {
      last.current = undefined;
      setKeys(new Set(rows.map(keyOf)));
    },
  };
}

/** Returns the rows from one to another, in either direction; the first alone if the other one is no longer there. */
function between<Row>(
  shown: readonly Row[],
  row: Row,
  other: string | undefined,
  keyOf: (row: Row) => string,
): readonly Row[] {
  const [from, to] = [keyOf(row), other].map((key) => shown.findIndex((each) => keyOf(each) === key));
  if (from === undefined || to === undefined || from < 0 || to < 0) return [row];
  return shown.slice(Math.min(from, to), Math.max(from, to) + 1);
}
