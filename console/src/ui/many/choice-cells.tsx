import { useRef, type ChangeEvent, type KeyboardEvent } from "react";
import { manyTexts } from "../../texts/many-texts.ts";
import type { Choice } from "./use-choice.ts";

/** How rows of a table are chosen. */
export interface RowChoice<Row> {
  readonly choice: Choice<Row>;
  /** What people call a row. */
  readonly nameOf: (row: Row) => string;
  /** Leads the focus to what can be done with the chosen rows. */
  readonly onActions: () => void;
}

/** Keys beside those of a checkbox: up and down lead to other rows, and Enter to what can be done. */
function followKey(event: KeyboardEvent<HTMLInputElement>, onActions: () => void): void {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step === undefined && event.key !== "Enter") return;
  event.preventDefault();
  if (step === undefined) {
    onActions();
    return;
  }
  const boxes = [...(event.currentTarget.closest("table")?.querySelectorAll<HTMLInputElement>("input.choose") ?? [])];
  boxes[boxes.indexOf(event.currentTarget) + step]?.focus();
}

interface ChooseAllProps<Row> extends RowChoice<Row> {
  readonly rows: readonly Row[];
}

/** Chooses all rows that a table shows, or none. */
export function ChooseAll<Row>({ rows, choice, onActions }: ChooseAllProps<Row>) {
  const chosen = choice.rows.length;
  return (
    <th scope="col" className="choice">
      <input
        ref={(box) => {
          if (box !== null) box.indeterminate = chosen > 0 && chosen < rows.length;
        }}
        type="checkbox"
        className="choose"
        title={manyTexts.hint}
        aria-label={manyTexts.chooseAll}
        checked={chosen === rows.length}
        onChange={({ target }) => choice.chooseOnly(target.checked ? rows : [])}
        onKeyDown={(event) => followKey(event, onActions)}
      />
    </th>
  );
}

interface ChooseRowProps<Row> extends RowChoice<Row> {
  readonly row: Row;
}

export function ChooseRow<Row>({ row, choice, nameOf, onActions }: ChooseRowProps<Row>) {
  const isRange = useRef(false);
  return (
    <td className="choice">
      <input
        type="checkbox"
        className="choose"
        aria-label={manyTexts.choose(nameOf(row))}
        checked={choice.has(row)}
        // Of a click, and of the space bar.
        onClick={({ shiftKey }) => (isRange.current = shiftKey)}
        onChange={({ target }: ChangeEvent<HTMLInputElement>) => choice.choose(row, target.checked, isRange.current)}
        onKeyDown={(event) => followKey(event, onActions)}
      />
    </td>
  );
}
