import type { ReactNode } from "react";

interface NumberRow {
  readonly key: string;
  readonly head: ReactNode;
  readonly cells: readonly string[];
}

interface NumberTableProps {
  readonly label: string;
  /** What the rows are of. */
  readonly head: string;
  readonly columns: readonly { readonly key: string; readonly title: ReactNode }[];
  readonly rows: readonly NumberRow[];
  /** The last row, of all of them. */
  readonly total?: NumberRow | undefined;
}

/** A table of numbers, each below the ones that it is compared with. It scrolls by itself, also with the keyboard. */
export function NumberTable({ label, head, columns, rows, total }: NumberTableProps) {
  return (
    <div className="table-frame numbers" role="region" aria-label={label} tabIndex={0}>
      <table aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            {columns.map(({ key, title }) => (
              <th key={key} scope="col" className="numeric">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.key} row={row} />
          ))}
        </tbody>
        {total === undefined ? null : (
          <tfoot>
            <Row row={total} />
          </tfoot>
        )}
      </table>
    </div>
  );
}

const Row = ({ row: { head, cells } }: { readonly row: NumberRow }) => (
  <tr>
    <th scope="row">{head}</th>
    {cells.map((cell, index) => (
      // Each column has one cell.
      <td key={index} className="numeric">
        {cell}
      </td>
    ))}
  </tr>
);
