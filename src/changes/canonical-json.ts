/**
 * Returns the text of a value in JSON that equal values have in common, as RFC 8785 (JCS) defines it: without white space, keys in the order
 * of their UTF-16 code units. What JSON leaves out or converts, such as `undefined` and dates, is as `JSON.stringify` does it.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, true);
}

/** @param mayBeOrdered whether it is likely, and so worth a look, that keys are in their order: then `JSON.stringify` writes all at once. */
function textOf(value: unknown, mayBeOrdered: boolean): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (value instanceof Date || (mayBeOrdered && isOrdered(value))) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => textOf(each, false)).join(",")}]`;
  const row = value as Readonly<Record<string, unknown>>;
  let text = "";
  for (const key of Object.keys(row).toSorted()) {
    const each = row[key];
    if (each !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${textOf(each, false)}`;
  }
  return `{${text}}`;
}

/** Whether the keys of a value, and of all in it, are in their order. */
function isOrdered(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof Date) return true;
  if (Array.isArray(value)) return value.every(isOrdered);
  let before = "";
  for (const key of Object.keys(value)) {
    if (key < before) return false;
    const each = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof each === "object" && !isOrdered(each)) return false;
    before = key;
  }
  return true;
}
