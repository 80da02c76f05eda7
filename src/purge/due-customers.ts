import { inTransaction, writeInOrg } from "../changes/write-in-org.ts";
import { customerPath } from "../customers/message.ts";
import { findDueCustomers } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, type Removed, purgeAuthor, searchSize } from "./purge-task.ts";
import { deleteCustomer, lockDueCustomer } from "./store.ts";

/** Customers who are due, once their last org is gone. */
export function createDueCustomersTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, rowsPerStep } = dependencies;
  return {
    kind: "customers",
    async find(leftOut) {
      const found = await findDueCustomers(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return found.map(({ id }) => ({ scope: id, remove: () => removeCustomer(dependencies, id) }));
    },
  };
}

function removeCustomer({ database, systemOrgId }: PurgeTaskDependencies, id: string): Promise<Removed | undefined> {
  return inTransaction(database, (db) =>
    writeInOrg(db, { by: "id", value: systemOrgId }, purgeAuthor, async ({ record }) => {
      const customer = await lockDueCustomer(db, id);
      if (customer === undefined) return undefined;
      await deleteCustomer(db, id);
      record({ type: "Customer", id, path: customerPath(customer), before: customer, after: null });
      return { rows: 1, resources: 1 };
    }),
  );
}
