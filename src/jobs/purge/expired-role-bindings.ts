import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { roleBindingDefinition } from "../../iam/role-bindings/definition.ts";
import { findExpiredRoleBindings } from "./find-purgeable.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { readExpiredRoleBindings } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Creates the task that removes role bindings that have expired or are on a customer past its purge time. */
export function createExpiredRoleBindingsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  return {
    kind: "roleBindings",
    async find(leftOut) {
      const found = await findExpiredRoleBindings(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, async (transaction, places) => {
        const { db, org } = transaction;
        const ids = places.map(({ id }) => id);
        const bindings = await readExpiredRoleBindings(transaction, ids);
        await removeRows(db, registry, roleBindingDefinition, org.id, bindings);
        for (const row of bindings) {
          // Bindings on a customer that is removed may not have expired.
          const hasExpired = row.expire_time !== null && row.expire_time <= org.lockTime;
          recordChange(transaction, roleBindingDefinition, row, null, hasExpired ? row.expire_time : null);
        }
        return { rows: bindings.length, resources: bindings.length };
      });
    },
  };
}
