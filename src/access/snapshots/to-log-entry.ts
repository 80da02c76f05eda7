import type { LogEntry } from "../engine/loading/apply-entry.ts";
import { type BindingColumns, toBindingRow } from "./to-binding-row.ts";

export function toLogEntry<Line extends LogEntry>(line: Line): Line {
  if (line.resource_type !== "RoleBinding") return line;
  const convert = (row: object | null) => (row === null ? null : toBindingRow(row as BindingColumns));
  return { ...line, before: convert(line.before), after: convert(line.after) };
}
