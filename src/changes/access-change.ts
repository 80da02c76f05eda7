import type { Change } from "./write-in-org.ts";

const stamps = ["changed_revision", "update_time"];

/** The columns that decide about nobody's access, by the types of which new resources have none. */
const withoutAccess: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Member", new Set([...stamps, "display_name", "description", "labels"])],
  ["Group", new Set([...stamps, "display_name", "description", "labels"])],
  // Conditions see the labels of projects.
  ["Project", new Set([...stamps, "display_name", "description"])],
  // Roles are bound on projects, not on what is in them; paths in conditions contain names.
  [
    "Resource",
    new Set([...stamps, "display_name", "description", "labels", "state", "operation_id", "concurrent_ids"]),
  ],
  ["Operation", new Set(stamps)],
]);

/** Whether there are changes of a type of resources that change nobody's access. */
export function isOftenWithoutAccess(type: string): boolean {
  return withoutAccess.has(type);
}

/** Whether a change may change what somebody may do. A new resource has no role bindings; one that is removed or renamed may. */
export function mayChangeAccess({ type, before, after }: Change): boolean {
  const free = withoutAccess.get(type);
  if (free === undefined || after === null) return true;
  if (before === null) return false;
  const [one, other] = [before, after] as readonly Readonly<Record<string, unknown>>[];
  return Object.keys({ ...one, ...other }).some(
    (column) => !free.has(column) && JSON.stringify(one?.[column]) !== JSON.stringify(other?.[column]),
  );
}
