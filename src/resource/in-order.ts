/** Rows in the order of the values that they were inserted from; RETURNING promises none. */
export function inOrder<Row extends { readonly id: string }>(
  values: readonly { readonly id: string }[],
  rows: readonly Row[],
): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return values.map(({ id }) => {
    const row = byId.get(id);
    if (row === undefined) throw new Error("a row that was inserted was not answered");
    return row;
  });
}
