// Column lists that tables share. Named prepared statements must list the columns of a table: a prepared `*` fails on servers
// that are still running when a newer one adds a column. Only statements without a name use `*` on a table.

export const namedColumns = [
  "id",
  "name",
  "display_name",
  "description",
  "labels",
  "changed_revision",
  "create_time",
  "update_time",
] as const;

/** The columns of resources that stay readable after they are deleted. */
export const deletableColumns = ["delete_time", "purge_time"] as const;

export const versionColumns = ["changed_revision", "create_time", "update_time"] as const;

/** Qualifies columns with their table, for selects that join several tables. */
export function columnsOf<const Table extends string, const Column extends string>(
  table: Table,
  columns: readonly Column[],
): `${Table}.${Column}`[] {
  return columns.map((column): `${Table}.${Column}` => `${table}.${column}`);
}

/** The columns of the rows that the path of a row goes through. */
export const pathColumns = {
  org: ["orgs.name as org_name", "orgs.delete_time as org_delete_time"],
  member: ["members.name as member_name", "members.delete_time as member_delete_time"],
  project: ["projects.name as project_name", "projects.delete_time as project_delete_time"],
} as const;
