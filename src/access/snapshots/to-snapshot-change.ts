import type { SnapshotChange } from "../engine/loading/apply-change.ts";
import { type BindingColumns, toBindingRow } from "./to-binding-row.ts";

/** Converts an entry of the change log to the engine's form. */
export function toSnapshotChange<Line extends SnapshotChange>(line: Line): Line {
  if (line.resource_type !== "RoleBinding") return line;
  const convert = (row: object | null) => (row === null ? null : toBindingRow(row as BindingColumns));
  return { ...line, before: convert(line.before), after: convert(line.after) };
}
