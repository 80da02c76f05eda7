// What a rollback would remove, and others use: projects with resources of providers, and providers of identities.
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../database/database.ts";
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
  const among = async (ids: readonly string[], found: (ids: readonly string[]) => RawBuilder<{ id: string }>) =>
    new Set(ids.length === 0 ? [] : (await found(ids).execute(reads)).rows.map(({ id }) => id));
  const projects = await among(
    idsOf("project"),
    (ids) => sql`
      select distinct project_id as id from resources where org_id = ${orgId} and project_id = any(${ids}::uuid[])`,
  );
  const providers = await among(
    idsOf("identity provider"),
    (ids) => sql`
      select distinct provider_id as id from identities where org_id = ${orgId} and provider_id = any(${ids}::uuid[])`,
  );
  const used = new Map<string, string>();
  for (const { type, id, path } of candidates) {
    if (type === "project" && projects.has(id))
      used.set(path, "would be removed, and has resources of providers: delete these first");
    if (type === "identity provider" && providers.has(id))
      used.set(path, "would be removed, and members sign in with it: delete it by itself");
  }
  return used;
}
