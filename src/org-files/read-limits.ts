// Reads the limits that are set in an org, by calls of the method that shows a quota, as the caller.
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import type { HandlerContext } from "@connectrpc/connect";
import { toLimitEntry } from "./limits.ts";
import type { StateReader, StateResource } from "./state-resource.ts";

/** How many quotas are asked for at once. Those that are asked for together are read together. */
const together = 100;

/**
 * Returns the limits of an org and of its projects.
 *
 * @param resources of the org, with its projects.
 * @throws ConnectError when the caller may not get the quota of the org, or one that has limits.
 */
export async function readLimits(
  reader: StateReader,
  context: HandlerContext,
  org: { readonly id: string; readonly path: string },
  resources: readonly StateResource[],
): Promise<StateResource[]> {
  const limited = await findLimited(reader, org.id);
  // That of the org is asked for in any case, so that who may not see it learns nothing from an answer.
  const levels = [
    { id: org.id, level: "", parentPath: org.path },
    ...resources.flatMap(({ type, id, path }) =>
      type === "project" && limited.has(id) ? [{ id, level: path, parentPath: `${org.path}/projects/@${id}` }] : [],
    ),
  ];
  const found: StateResource[] = [];
  for (let start = 0; start < levels.length; start += together) {
    const quotas = levels.slice(start, start + together).map(async ({ id, level, parentPath }) => {
      const { limits } = await reader.ofCaller(QuotasService.method.getQuota, { parentPath }, context);
      return Object.entries(limits).map(([kind, limit]) => ({ ...toLimitEntry(level, kind, limit), id }));
    });
    found.push(...(await Promise.all(quotas)).flat());
  }
  return found;
}

/** Returns the ids of what has limits in an org: the org and projects, also deleted ones. */
async function findLimited({ database }: StateReader, orgId: string): Promise<ReadonlySet<string>> {
  const rows = await database.reads
    .selectFrom("orgs")
    .innerJoin("quotas", (join) =>
      join.onRef("quotas.customer_id", "=", "orgs.customer_id").onRef("quotas.org_id", "=", "orgs.id"),
    )
    .select("quotas.scope_id")
    .distinct()
    .where("orgs.id", "=", orgId)
    .where("quotas.maximum", "is not", null)
    .execute();
  return new Set(rows.map(({ scope_id: id }) => id));
}
