export interface Figures {
  readonly name: string;
  /** Per second; the median of the rounds. */
  readonly rate: number;
  /** Relative to the baseline in the same run. */
  readonly ratio: number;
  /** The rates of the rounds. */
  readonly spread: readonly number[];
}

/** @param part from 0 to 1: 0.99 returns what 99 of 100 values are not above. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * part)] ?? 0;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function printTable(title: string, unit: string, of: string, rows: readonly Figures[]): void {
  const width = Math.max(...rows.map((row) => row.name.length));
  const line = (name: string, ...cells: string[]) =>
    `${name.padEnd(width)}  ${cells.map((cell) => cell.padStart(14)).join("")}`;
  console.log(`\n${title}`);
  console.log(line("", unit, of, "lowest", "highest"));
  for (const { name, rate, ratio, spread } of rows) {
    const [low, high] = [Math.min(...spread), Math.max(...spread)];
    console.log(line(name, rate.toFixed(0), ratio.toFixed(2), low.toFixed(0), high.toFixed(0)));
  }
}
