const prefixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/**
 * Reads an amount as somebody types it: `2.5`, and of bytes also `512 MiB` or `2GiB`. Returns NaN for what is none.
 *
 * @param unit the base unit of the result.
 */
export function parseAmount(text: string, unit: string): number {
  const [, amount = "", prefix = ""] = /^\s*([\d.eE+-]+)\s*(?:([KMGTPE]i)?B)?\s*$/.exec(text) ?? [];
  if (amount === "" || (unit !== "byte" && /B\s*$/.test(text))) return Number.NaN;
  return Number(amount) * 1024 ** prefixes.indexOf(prefix);
}
