import type { Column, Item } from "./columns.ts";
import { pad, shorten, widthOf } from "./text-width.ts";

/** What separates columns. */
const gap = "  ";
/** No column is shortened to less. */
const least = 8;

/** Writes items as lines of a table, as wide as the terminal at most. The first items decide how wide the columns are. */
export function createTable(columns: readonly Column[], terminalWidth: number | undefined) {
  let widths: readonly number[] | undefined;
  let shown: readonly Column[] = columns;
  return (items: readonly Item[]): string => {
    const lines: string[] = [];
    if (widths === undefined) {
      // What no item has needs no column.
      shown = columns.filter(({ read }, index) => index === 0 || items.some((item) => read(item) !== ""));
      widths = fit(
        shown.map(({ title, read }) => Math.max(widthOf(title), ...items.map((item) => widthOf(read(item))))),
        terminalWidth,
      );
      lines.push(
        writeLine(
          shown.map(({ title }) => title),
          widths,
          terminalWidth,
        ),
      );
    }
    const known = widths;
    lines.push(
      ...items.map((item) =>
        writeLine(
          shown.map(({ read }) => read(item)),
          known,
          terminalWidth,
        ),
      ),
    );
    return lines.map((line) => `${line}\n`).join("");
  };
}

function writeLine(cells: readonly string[], widths: readonly number[], terminalWidth: number | undefined): string {
  const fitted = cells.map((cell, index) => {
    const width = widths[index] ?? 0;
    return pad(terminalWidth === undefined ? cell : shorten(cell, width), width);
  });
  return fitted.join(gap).trimEnd();
}

/** Makes the widest columns narrower until all fit. */
function fit(widths: readonly number[], terminalWidth: number | undefined): readonly number[] {
  if (terminalWidth === undefined) return widths;
  const fitted = [...widths];
  let excess = fitted.reduce((sum, width) => sum + width, gap.length * (fitted.length - 1)) - terminalWidth;
  while (excess > 0) {
    const widest = fitted.indexOf(Math.max(...fitted));
    const width = fitted[widest] ?? 0;
    if (width <= least) break;
    fitted[widest] = width - 1;
    excess--;
  }
  return fitted;
}
