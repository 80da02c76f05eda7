import type { PathPattern } from "./patterns.ts";
import type { Reference } from "./parse-path.ts";

/** Returns the path of a resource, from the names on the way to it: `/orgs/acme/members/alice`. */
export function formatPath<const Pattern extends PathPattern>(
  pattern: Pattern,
  ...names: { [Level in keyof Pattern]: string }
): string {
  let path = "";
  for (let level = 0; level < pattern.length; level++) path += `/${pattern[level]}/${names[level] ?? ""}`;
  return path;
}

/** Returns a parsed path as text. A reference by id is shown by its name, if that is known. */
export function formatReferences(pattern: PathPattern, references: readonly Reference[]): string {
  let path = "";
  for (let level = 0; level < pattern.length; level++) {
    path += `/${pattern[level]}/${formatReference(references[level] ?? { by: "any" })}`;
  }
  return path;
}

function formatReference(reference: Reference): string {
  if (reference.by === "any") return "-";
  if (reference.by === "name") return reference.value;
  return reference.shown ?? `@${reference.value}`;
}

/** Returns the segment that names a resource: its name or, once it is deleted and no name finds it any more, `@` and its id. */
export function pathName(row: { id: string; name: string; delete_time?: Date | null }): string {
  return row.delete_time ? `@${row.id}` : row.name;
}

/** Does the same for the org of a row. */
export function orgPathName(row: { org_id: string; org_name: string; org_delete_time: Date | null }): string {
  return pathName({ id: row.org_id, name: row.org_name, delete_time: row.org_delete_time });
}

/** The joined columns of an org of which only the id is known. */
export const orgById = ({ org_id: id }: { org_id: string }) => ({ org_name: `@${id}`, org_delete_time: null });

/** Returns what stands in a path for the name of something of which only the id is known. */
export const byId = <Id extends string | null>(id: Id): Id => (id === null ? id : `@${id}`) as Id;
