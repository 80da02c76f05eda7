import { purgeAuthor } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import { customerDefinition } from "../../iam/customers/definition.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { selectPurgeableCustomers } from "./find-purgeable.ts";
import { type PurgeTask, type PurgeTaskDependencies, type Removed, searchSize } from "./purge-task.ts";
import { emptyCustomer, lockPurgeableCustomer, removeCustomer } from "./store.ts";

/**
 * Creates the task that removes customers past their purge time, once they have no orgs. That one was removed is in the log of the org
 * `system`; what its own log has stays in the log of the platform for as long as entries are kept.
 */
export function createPurgeableCustomersTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, rowsPerStep } = dependencies;
  return {
    kind: "customers",
    selects: [selectPurgeableCustomers],
    async find(leftOut, now) {
      const search = { leftOut, now, limit: searchSize(rowsPerStep) };
      const { rows } = await selectPurgeableCustomers(search).execute(database.reads);
      return rows.map(({ id }) => ({ scope: id, remove: () => removePurgeableCustomer(dependencies, id) }));
    },
  };
}

function removePurgeableCustomer(
  { database, installation: { systemOrgId }, rowsPerStep }: PurgeTaskDependencies,
  id: string,
): Promise<Removed | undefined> {
  return inTransaction(database, (db) =>
    writeInOrg(db, { org: { by: "id", value: systemOrgId } }, purgeAuthor, async (transaction) => {
      const customer = await lockPurgeableCustomer(transaction, id);
      if (customer === undefined) return undefined;
      const rows = await emptyCustomer(db, id, rowsPerStep);
      // There may be more.
      if (rows >= rowsPerStep) return { rows, resources: 0 };
      await removeCustomer(db, customer);
      recordChange(transaction, customerDefinition, customer, null);
      return { rows: rows + 1, resources: 1 };
    }),
  );
}
