import type { Change } from "./change.ts";

const stamps = ["changed_revision", "update_time"];

/** The columns that decide about nobody's access, by the types of which new resources have none. */
const withoutAccess: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Member", new Set([...stamps, "display_name", "description", "labels", "email"])],
  ["Group", new Set([...stamps, "display_name", "description", "labels"])],
  // Conditions see the labels of projects.
  ["Project", new Set([...stamps, "display_name", "description"])],
]);

/**
 * The columns that may decide about somebody's access, by the types of what is in projects. Roles are bound on projects, and no
 * snapshot has what is in them, so the removal of one changes nobody's access, either. Paths in conditions contain names.
 */
const deciding: ReadonlyMap<string, readonly string[]> = new Map([
  ["Resource", ["name"]],
  ["Operation", []],
]);

/** Whether there are changes of a type of resources that change nobody's access. */
export function isOftenWithoutAccess(type: string): boolean {
  return withoutAccess.has(type) || deciding.has(type);
}

/** Whether a change may change what somebody may do. A new resource has no role bindings; one that is removed or renamed may. */
export function mayChangeAccess({ type, before, after }: Change): boolean {
  const columns = deciding.get(type);
  if (columns !== undefined) return before !== null && after !== null && columns.some(differsIn(before, after));
  const free = withoutAccess.get(type);
  if (free === undefined || after === null) return true;
  if (before === null) return false;
  return Object.keys({ ...before, ...after }).some((column) => !free.has(column) && differsIn(before, after)(column));
}

type Columns = Readonly<Record<string, unknown>>;

function differsIn(before: object, after: object): (column: string) => boolean {
  return (column) => JSON.stringify((before as Columns)[column]) !== JSON.stringify((after as Columns)[column]);
}
