import { inTransaction, writeInOrg } from "../changes/write-in-org.ts";
import { customerDefinition } from "../customers/definition.ts";
import { recordChange } from "../resource/write/record.ts";
import { findDueCustomers } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, type Removed, purgeAuthor, searchSize } from "./purge-task.ts";
import { lockDueCustomer, removeCustomer } from "./store.ts";

/** Customers who are due, once their last org is gone. */
export function createDueCustomersTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, rowsPerStep } = dependencies;
  return {
    kind: "customers",
    async find(leftOut) {
      const found = await findDueCustomers(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return found.map(({ id }) => ({ scope: id, remove: () => removeDueCustomer(dependencies, id) }));
    },
  };
}

function removeDueCustomer({ database, systemOrgId }: PurgeTaskDependencies, id: string): Promise<Removed | undefined> {
  return inTransaction(database, (db) =>
    writeInOrg(db, { by: "id", value: systemOrgId }, purgeAuthor, async (transaction) => {
      const customer = await lockDueCustomer(db, id);
      if (customer === undefined) return undefined;
      await removeCustomer(db, customer);
      recordChange(transaction, customerDefinition, customer, null);
      return { rows: 1, resources: 1 };
    }),
  );
}
