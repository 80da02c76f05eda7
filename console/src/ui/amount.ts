const format = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 });

const binary = ["byte", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** Returns the amount of a kind. A kind can be called like a property that every object has: "constructor". */
export const amountOf = (amounts: Readonly<Record<string, number>>, kind: string): number | undefined =>
  Object.hasOwn(amounts, kind) ? amounts[kind] : undefined;

/** Writes an amount as people read it: bytes with a prefix, other units as they are. */
export function writeAmount(value: number, unit = ""): string {
  if (unit !== "byte" || value === 0) return format.format(value);
  const power = Math.min(Math.floor(Math.log2(value) / 10), binary.length - 1);
  return `${format.format(value / 1024 ** power)} ${binary[power] ?? unit}`;
}

/** Writes two amounts of a kind as a sum. What both have after the number is there once. */
export function writeSum(one: number, other: number, unit: string): string {
  const [first, second] = [writeAmount(one, unit), writeAmount(other, unit)];
  const prefix = /[^\d]*$/.exec(second)?.[0] ?? "";
  return `${first.endsWith(prefix) ? first.slice(0, first.length - prefix.length) : first} + ${second}`;
}
