import type { Holds } from "../access/evaluation/author-holds.ts";
import { patterns } from "../paths/patterns.ts";
import type { AnyPath, Reference } from "../paths/parse-path.ts";

/** Where a resource is, and of which type; null if the type no longer exists. */
interface Located {
  readonly org_id: string;
  readonly project_id: string;
  readonly service_name: string | null;
  readonly collection: string | null;
}

/**
 * Returns the path of a resource for decisions: where it is, also if that is written as `-`, because its org or project can be
 * suspended.
 *
 * @param written names the resource in its project, for conditions.
 */
export function decisionPath(row: Pick<Located, "org_id" | "project_id">, written: Reference): AnyPath {
  return { pattern: patterns.Resource, references: [...projectOf(row).references, written] };
}

export function projectOf({ org_id: orgId, project_id: projectId }: Pick<Located, "org_id" | "project_id">): AnyPath {
  const references = [orgId, projectId].map((value) => ({ by: "id", value }) as const);
  return { pattern: patterns.Project, references };
}

/** Reports whether somebody may get a resource, as one of its type or of any type. */
export async function mayReadResource(holds: Holds, row: Located, path: AnyPath): Promise<boolean> {
  const { service_name: service, collection } = row;
  if (service !== null && collection !== null && (await holds(`${service}.${collection}.get`, path))) return true;
  return holds("resources.resources.get", path);
}

/** Reports whether somebody may get a resource that a row has. Conditions see a deleted one by its id: it has no name. */
export function mayReadRow(
  holds: Holds,
  row: Located & { readonly id: string; readonly name: string; readonly delete_time: Date | null },
): Promise<boolean> {
  const written: Reference = row.delete_time === null ? { by: "name", value: row.name } : { by: "id", value: row.id };
  return mayReadResource(holds, row, decisionPath(row, written));
}
