// Removes an org in batches, including its change log, and then its row, whose removal is recorded in the log of its
// customer. While the batches are removed, only the org's own lock is held. The lock of that log, which other writes need, is held only
// for the last step.
import { purgeAuthor } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { lockCustomersFirst } from "../../changes/write-locks.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { type RowPlace, selectPurgeableOrgs, findRowsOfOrg } from "./find-purgeable.ts";
import { type PurgeTask, type PurgeTaskDependencies, type Removed, nothing, searchSize } from "./purge-task.ts";
import { orgTablesOf } from "./org-tables.ts";
import { deleteRowsOfOrg, hasChanges, lockPurgeableOrg, removeOrg, removeUsageWith } from "./store.ts";

export function createPurgeableOrgsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  const tables = orgTablesOf(registry);
  /** The rows of an org that were found and are not removed yet. */
  const found = new Map<string, RowPlace[]>();

  const remove = async (org: OrgKey): Promise<Removed | undefined> => {
    const { id } = org;
    const rows = found.get(id) ?? (await findRowsOfOrg(database.reads, tables, org, searchSize(rowsPerStep)));
    found.delete(id);
    if (rows.length === 0) return (await removeUsage(dependencies, org)) ?? removePurgeableOrg(dependencies, org);
    const removed = await emptyOrg(dependencies, id, rows.slice(0, rowsPerStep));
    if (removed !== undefined && rows.length > rowsPerStep) found.set(id, rows.slice(rowsPerStep));
    return removed;
  };

  const select = selectPurgeableOrgs(registry);
  return {
    kind: "orgs",
    selects: [select],
    async find(leftOut, now) {
      // One transaction of each org in turn, so that a large org does not delay the others.
      const { rows: orgs } = await select({ leftOut, now, limit: searchSize(rowsPerStep) }).execute(database.reads);
      return orgs.map((org) => ({ scope: org.id, remove: () => remove(org) }));
    },
  };
}

function emptyOrg(
  { database, registry }: PurgeTaskDependencies,
  id: string,
  rows: readonly RowPlace[],
): Promise<Removed | undefined> {
  return inTransaction(database, async (db) => {
    if (rows.some(({ table }) => table === "allocations")) lockCustomersFirst(db, [{ by: "id", value: id }]);
    const org = await lockPurgeableOrg(db, registry, id);
    return org && { rows: await deleteRowsOfOrg(db, org, rows), resources: 0 };
  });
}

/** Removes what the usage of the customer was summed up to. Returns undefined if nothing is left of it. */
function removeUsage(
  { database, registry, rowsPerStep }: PurgeTaskDependencies,
  { id }: OrgKey,
): Promise<Removed | undefined> {
  return inTransaction(database, async (db) => {
    const org = await lockPurgeableOrg(db, registry, id);
    const rows = org === undefined ? 0 : await removeUsageWith(db, org, rowsPerStep);
    return rows > 0 ? { rows, resources: 0 } : undefined;
  });
}

async function removePurgeableOrg(
  { database, registry }: PurgeTaskDependencies,
  { customer_id: customerId, id }: OrgKey,
): Promise<Removed | undefined> {
  const removal = inTransaction(database, (db) =>
    writeInOrg(db, { logOfCustomer: { by: "id", value: customerId } }, purgeAuthor, async (transaction) => {
      const org = await lockPurgeableOrg(db, registry, id);
      if (org === undefined) return undefined;
      // Another purge of the org may have appended to its change log since it was emptied.
      if (await hasChanges(db, org)) return nothing;
      await removeOrg(db, org);
      recordChange(transaction, orgDefinition, org, null);
      return { rows: 1, resources: 1 };
    }),
  );
  return removal.catch((error: unknown) => {
    // Another server has removed the org meanwhile, and then its customer.
    if (error instanceof ServiceError && error.reason === "RESOURCE_NOT_FOUND") return undefined;
    throw error;
  });
}
