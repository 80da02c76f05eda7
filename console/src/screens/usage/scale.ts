// How numbers that stand below each other are written: with the same unit and the same digits.
import { amountTexts } from "../../texts/amount-texts.ts";

export interface Scale {
  /** The unit of what is written, such as `GiB`; empty if there is none. */
  readonly unit: string;
  /** How many base units are one of them. */
  readonly size: number;
  /** Writes an amount of base units. */
  readonly write: (amount: number) => string;
}

/** From here on, hundredths say nothing more. */
const large = 10_000;

/**
 * Returns a scale for amounts of one kind.
 *
 * @param unit such as `core`. Bytes are written with the prefix that the greatest amount has.
 * @param others amounts in other columns, which have the same prefix.
 */
export function scaleOf(amounts: readonly number[], unit: string, others: readonly number[] = []): Scale {
  const power = unit === "byte" ? Math.floor(Math.log2(Math.max(1, greatestOf([...amounts, ...others]))) / 10) : 0;
  const size = 1024 ** power;
  const digits = digitsFor(amounts.map((amount) => amount / size));
  const format = new Intl.NumberFormat("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return {
    unit: power === 0 ? unit : (amountTexts.units[power] ?? unit),
    size,
    write: (amount) => (amount === 0 ? "0" : format.format(amount / size)),
  };
}

/** Three digits of what is small; hundredths of others, unless all are whole or large. */
function digitsFor(amounts: readonly number[]): number {
  const greatest = greatestOf(amounts);
  if (greatest >= large || amounts.every(Number.isInteger)) return 0;
  return greatest >= 1 ? 2 : Math.min(8, 2 - Math.floor(Math.log10(greatest)));
}

/** Not by spreading them into a call, which takes fewer arguments than there can be amounts. */
const greatestOf = (amounts: readonly number[]): number => amounts.reduce((most, amount) => Math.max(most, amount), 0);
