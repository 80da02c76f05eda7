const anyPath = /(?:\/[\w@-]+)+/g;
/** The id with which a path may end. */
const idAtEnd = /\/@([0-9a-f-]{36})$/;

/** Writes what the service says with what people call the rows that it names by their paths, which may have ids. */
export function withNames<Row extends { readonly path: string }>(
  text: string,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  nameOf: (row: Row) => string,
): string {
  const names = new Map(rows.flatMap((row) => [keyOf(row), row.path].map((each) => [each, nameOf(row)] as const)));
  return text.replaceAll(anyPath, (path) => names.get(idAtEnd.exec(path)?.[1] ?? path) ?? path);
}
