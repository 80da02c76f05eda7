// An org that is due goes in batches, its change log too; then its row, whose last line is in the log of the org `system`.
// While it is emptied only its own lock is held, and the one of `system`, which others want, only to end it.
import { inTransaction, writeInOrg } from "../changes/write-in-org.ts";
import { violatedConstraint } from "../database/failure.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { recordChange } from "../resource/write/record.ts";
import { type RowPlace, findDueOrgs, findRowsOfOrg } from "./find-due.ts";
import {
  type PurgeTask,
  type PurgeTaskDependencies,
  type Removed,
  nothing,
  purgeAuthor,
  searchSize,
} from "./purge-task.ts";
import { orgTablesOf } from "./org-tables.ts";
import { deleteRowsOfOrg, lockDueOrg, removeOrg } from "./store.ts";

export function createDueOrgsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  const tables = orgTablesOf(registry);
  /** What was found of an org and is not removed yet. */
  const found = new Map<string, RowPlace[]>();

  const remove = async (id: string): Promise<Removed | undefined> => {
    const rows = found.get(id) ?? (await findRowsOfOrg(database.reads, tables, id, searchSize(rowsPerStep)));
    found.delete(id);
    if (rows.length === 0) return removeDueOrg(dependencies, id);
    const removed = await emptyOrg(dependencies, id, rows.slice(0, rowsPerStep));
    if (removed !== undefined && rows.length > rowsPerStep) found.set(id, rows.slice(rowsPerStep));
    return removed;
  };

  return {
    kind: "orgs",
    async find(leftOut) {
      // A transaction of each in turn, so that a large one does not hold up the others.
      const orgs = await findDueOrgs(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return orgs.map(({ id }) => ({ scope: id, remove: () => remove(id) }));
    },
  };
}

function emptyOrg(
  { database }: PurgeTaskDependencies,
  id: string,
  rows: readonly RowPlace[],
): Promise<Removed | undefined> {
  return inTransaction(database, async (db) => {
    const org = await lockDueOrg(db, id);
    return org && { rows: await deleteRowsOfOrg(db, id, rows), resources: 0 };
  });
}

async function removeDueOrg(
  { database, systemOrgId }: PurgeTaskDependencies,
  id: string,
): Promise<Removed | undefined> {
  try {
    return await inTransaction(database, (db) =>
      writeInOrg(db, { by: "id", value: systemOrgId }, purgeAuthor, async (transaction) => {
        const org = await lockDueOrg(db, id);
        if (org === undefined) return undefined;
        await removeOrg(db, org);
        recordChange(transaction, orgDefinition, org, null);
        return { rows: 1, resources: 1 };
      }),
    );
  } catch (error) {
    // Giving it up once more has left a line in its log since it was emptied: it is not empty.
    if (violatedConstraint(error) === "changes_org_id_fkey") return nothing;
    throw error;
  }
}
