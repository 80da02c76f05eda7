/**
 * Returns the text of a value in JSON that equal values have in common, as RFC 8785 (JCS) defines it: without white space, keys in the order
 * of their UTF-16 code units. What JSON leaves out or converts, such as `undefined` and dates, is as `JSON.stringify` does it.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (value instanceof Date) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const row = value as Readonly<Record<string, unknown>>;
  let text = "";
  for (const key of Object.keys(row).toSorted()) {
    const each = row[key];
    if (each !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(each)}`;
  }
  return `{${text}}`;
}
