import { Link, useSearch } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { rowMenuTexts } from "../texts/row-menu-texts.ts";
import type { RowAction } from "./actions/row-action.ts";
import { ChooseAll, ChooseRow, type RowChoice } from "./many/choice-cells.tsx";
import { type Copied, RowMenu } from "./row-menu.tsx";

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ReactNode;
  /** Numbers are aligned at their ends. */
  readonly numeric?: boolean;
  /** Left out where the screen is narrow. */
  readonly wide?: boolean;
  /** The field by which the service orders the list, such as `display_name`, if somebody can choose that. The URL holds it as `order`. */
  readonly orderBy?: string;
}

export interface DataTableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** How rows are chosen, if they are. */
  readonly choosing?: RowChoice<T>;
  /** What can be copied of a row, if something can. */
  readonly copiedOf?: (row: T) => Copied;
  /** What can be done with a row, in the menu that also copies. */
  readonly actionsOf?: (row: T) => readonly RowAction[];
}

/** In pixels; the rows that are drawn are measured. */
const usualRowHeight = 45;

/** A table that draws only the rows near what is visible, so that one of a thousand rows scrolls as one of ten does. */
export function DataTable<T>({ label, columns, rows, keyOf, choosing, copiedOf, actionsOf }: DataTableProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(body.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => usualRowHeight,
    overscan: 12,
    scrollMargin: top,
  });
  const items = virtual.getVirtualItems();
  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  const width = columns.length + (choosing === undefined ? 0 : 1) + (copiedOf === undefined ? 0 : 1);
  return (
    <div className="table-frame">
      <table aria-label={label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {choosing === undefined ? null : <ChooseAll rows={rows} {...choosing} />}
            {columns.map((column, index) => (
              // Those of amounts have names that others give them.
              <HeadCell key={`${index} ${column.title}`} column={column} />
            ))}
            {copiedOf === undefined ? null : (
              <th scope="col" className="more">
                <span className="unseen">{rowMenuTexts.column}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody ref={body}>
          <Space height={before} columns={width} />
          {items.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <tr
                key={keyOf(row)}
                ref={virtual.measureElement}
                data-index={index}
                aria-rowindex={index + 2}
                className={choosing?.choice.has(row) === true ? "chosen" : undefined}
              >
                <Cells row={row} columns={columns} choosing={choosing} copiedOf={copiedOf} actionsOf={actionsOf} />
              </tr>
            );
          })}
          <Space height={after} columns={width} />
        </tbody>
      </table>
    </div>
  );
}

interface CellsProps<T> extends Pick<DataTableProps<T>, "columns"> {
  readonly row: T;
  readonly choosing: RowChoice<T> | undefined;
  readonly copiedOf: ((row: T) => Copied) | undefined;
  readonly actionsOf: ((row: T) => readonly RowAction[]) | undefined;
}

function Cells<T>({ row, columns, choosing, copiedOf, actionsOf }: CellsProps<T>) {
  return (
    <>
      {choosing === undefined ? null : <ChooseRow row={row} {...choosing} />}
      {columns.map((column, index) => (
        <td key={`${index} ${column.title}`} className={classOf(column)}>
          {column.cell(row)}
        </td>
      ))}
      {copiedOf === undefined ? null : (
        <td className="more">
          <RowMenu of={copiedOf(row)} actions={actionsOf?.(row)} />
        </td>
      )}
    </>
  );
}

/** The head of a column, which orders the list by it: upwards, then downwards, then as it was. */
function HeadCell({ column }: { readonly column: Column<never> }) {
  const { order } = useSearch({ strict: false });
  const { title, orderBy } = column;
  if (orderBy === undefined) {
    return (
      <th scope="col" className={classOf(column)}>
        {title}
      </th>
    );
  }
  const down = `${orderBy} desc`;
  const [sort, arrow, next] =
    order === orderBy
      ? (["ascending", "↑", down] as const)
      : order === down
        ? (["descending", "↓", undefined] as const)
        : (["none", "↕", orderBy] as const);
  return (
    <th scope="col" className={classOf(column)} aria-sort={sort}>
      <Link to="." search={(search) => ({ ...search, order: next, page: undefined })} replace className="order">
        {title} <span aria-hidden="true">{arrow}</span>
      </Link>
    </th>
  );
}

function classOf({ numeric, wide }: Pick<Column<never>, "numeric" | "wide">): string {
  return [numeric === true ? "numeric" : "", wide === true ? "wide" : ""].join(" ").trim();
}

/** Stands for the rows that are not drawn. */
function Space({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" className="space">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}
