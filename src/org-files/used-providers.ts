// Identity providers that a plan removes while members sign in with them.
import type { Database } from "../database/database.ts";
import type { Plan } from "./plan-changes.ts";
import type { OrgState } from "./read-state.ts";

/**
 * Returns what stands in the way: Identities go with their provider, and a member without any cannot sign in. So that is done by hand, and
 * not because a file lacks a line.
 */
export async function findUsedProviders(
  { reads }: Pick<Database, "reads">,
  { id }: Pick<OrgState, "id">,
  { removed }: Plan,
): Promise<readonly string[]> {
  const providers = removed.filter(({ type }) => type === "identity provider");
  const used = await readUsedProviders(
    reads,
    id,
    providers.map((each) => each.id),
  );
  return providers
    .filter((each) => used.has(each.id))
    .map(({ path }) => `${path} would be removed, and members sign in with it: delete it by itself`);
}

/** Returns the ids of those of an org's identity providers with which members sign in. */
export async function readUsedProviders(
  reads: Database["reads"],
  orgId: string,
  providerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (providerIds.length === 0) return new Set();
  const rows = await reads
    .selectFrom("identities")
    .select("provider_id")
    .distinct()
    .where("org_id", "=", orgId)
    .where("provider_id", "in", providerIds)
    .execute();
  return new Set(rows.map(({ provider_id: providerId }) => providerId));
}
