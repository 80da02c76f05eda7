import { loggedRoleBinding, roleBindingPath } from "../role-bindings/message.ts";
import { findSpentRoleBindings } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { deleteRoleBindings, readSpentRoleBindings } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Role bindings past their time, and those on a customer that is due. */
export function createSpentRoleBindingsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, rowsPerStep } = dependencies;
  return {
    kind: "roleBindings",
    async find(leftOut) {
      const found = await findSpentRoleBindings(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, async ({ db, org, record }, places) => {
        const ids = places.map(({ id }) => id);
        const bindings = await readSpentRoleBindings(db, org.id, ids);
        await deleteRoleBindings(
          db,
          org.id,
          bindings.map(({ id }) => id),
        );
        for (const row of bindings) {
          const path = roleBindingPath(row);
          record({ type: "RoleBinding", id: row.id, path, before: loggedRoleBinding(row), after: null });
        }
        return { rows: bindings.length, resources: bindings.length };
      });
    },
  };
}
