/**
 * Returns the texts of the values of a record, as PostgreSQL writes them for the record itself: `(a,,"b ""c""")`. Quotes and backslashes
 * are doubled inside of quotes, and a value that is empty has them, which NULL does not (PostgreSQL, 8.16.6).
 */
export function splitRecord(text: string): (string | null)[] {
  const values: (string | null)[] = [];
  // Each turn begins after a parenthesis or a comma.
  for (let at = 1; at < text.length;) {
    if (text[at] === '"') {
      const end = endOfQuoted(text, at);
      const quoted = text.slice(at + 1, end);
      values.push(/["\\]/.test(quoted) ? quoted.replaceAll(/(["\\])\1/g, "$1") : quoted);
      at = end + 2;
    } else {
      const comma = text.indexOf(",", at);
      const end = comma === -1 ? text.length - 1 : comma;
      values.push(end === at ? null : text.slice(at, end));
      at = end + 1;
    }
  }
  return values;
}

/** Returns the position of the quote that ends a value. */
function endOfQuoted(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (text[end + 1] === '"') end = text.indexOf('"', end + 2);
  return end;
}
