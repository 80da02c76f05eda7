// What a rollback would remove, and others use: projects with resources of providers, and providers of identities.
import { sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { readUsedProviders } from "../used-providers.ts";
import type { SideResource } from "./read-sides.ts";

/**
 * Returns what stands in the way of a removal, by path.
 *
 * @param candidates what there is and shall not be.
 */
export async function findInUse(
  { reads }: Pick<Database, "reads">,
  orgId: string,
  candidates: readonly SideResource[],
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (type: SideResource["type"]): readonly string[] =>
    candidates.filter((each) => each.type === type).map(({ id }) => id);
  const projects = await readUsedProjects(reads, orgId, idsOf("project"));
  const providers = await readUsedProviders(reads, orgId, idsOf("identity provider"));
  const used = new Map<string, string>();
  for (const { type, id, path } of candidates) {
    if (type === "project" && projects.has(id))
      used.set(path, "would be removed, and has resources of providers: delete these first");
    if (type === "identity provider" && providers.has(id))
      used.set(path, "would be removed, and members sign in with it: delete it by itself");
  }
  return used;
}

/** Returns the ids of those of an org's projects that have resources of providers. */
async function readUsedProjects(
  reads: Database["reads"],
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select distinct project_id as id from resources where org_id = ${orgId} and project_id = any(${ids}::uuid[])`.execute(
    reads,
  );
  return new Set(rows.map(({ id }) => id));
}
