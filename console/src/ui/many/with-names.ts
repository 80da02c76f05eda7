/** A path that ends with an id, as calls about several rows have it, and that id. */
const pathWithId = /(?:\/[\w@-]+)*\/@([0-9a-f-]{36})/g;

/** Writes what the service says with what people call the rows that it names by paths with ids. */
export function withNames<Row>(
  text: string,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  nameOf: (row: Row) => string,
): string {
  const names = new Map(rows.map((row) => [keyOf(row), nameOf(row)]));
  return text.replaceAll(pathWithId, (path: string, id: string) => names.get(id) ?? path);
}
