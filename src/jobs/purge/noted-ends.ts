import type { Entry } from "../../database/commits.ts";

/** The column with the end of a row, by the type of the resource. */
const endColumns: ReadonlyMap<string, string> = new Map([
  ["ApiKey", "expire_time"],
  ["GroupMember", "expire_time"],
  ["Member", "invitation_expire_time"],
  ["RoleBinding", "expire_time"],
  ["Session", "expire_time"],
]);

/** Returns how long after a change the resource ends by itself, in milliseconds; Infinity if it does not. */
export function endAfterChange({ resource_type: type, after, time }: Entry): number {
  const column = endColumns.get(type);
  if (column === undefined || after === null) return Infinity;
  const end = (after as Readonly<Record<string, Date | string | null | undefined>>)[column] ?? null;
  return end === null ? Infinity : new Date(end).getTime() - Date.parse(time);
}
