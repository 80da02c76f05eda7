import { removeRows } from "../resource/rows/remove-rows.ts";
import { recordChange } from "../resource/write/record.ts";
import { roleBindingDefinition } from "../role-bindings/definition.ts";
import { findSpentRoleBindings } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { readSpentRoleBindings } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Role bindings past their time, and those on a customer that is due. */
export function createSpentRoleBindingsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  return {
    kind: "roleBindings",
    async find(leftOut) {
      const found = await findSpentRoleBindings(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, async (transaction, places) => {
        const { db, org } = transaction;
        const ids = places.map(({ id }) => id);
        const bindings = await readSpentRoleBindings(db, org.id, ids);
        await removeRows(db, registry, roleBindingDefinition, org.id, bindings);
        for (const row of bindings) recordChange(transaction, roleBindingDefinition, row, null);
        return { rows: bindings.length, resources: bindings.length };
      });
    },
  };
}
