import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { resourceTypes } from "../../../gen/resource-types.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { selectPurgeableIn } from "./find-purgeable.ts";
import { type PurgeTask, type PurgeTaskDependencies, type Removed, searchSize } from "./purge-task.ts";
import { readPurgeable, removePurgeable, removeOwnedRows } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Creates the task that removes soft-deleted resources of one type that are past their purge time. */
export function createPurgeableTask(dependencies: PurgeTaskDependencies, definition: ResourceDefinition): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  const { type } = definition;

  /** Removes the rows that refer to the resources first. If these are many, the resources are left to a later transaction. */
  const remove = async (transaction: OrgTransaction, ids: readonly string[]): Promise<Removed> => {
    const { db, org } = transaction;
    const purgeable = await readPurgeable(transaction, registry, definition, ids);
    const owned = await removeOwnedRows(db, registry, definition, org, purgeable, rowsPerStep);
    const rows = purgeable.slice(0, rowsPerStep - owned);
    await removePurgeable(db, registry, definition, org, rows);
    for (const row of rows) recordChange(transaction, definition, row, null);
    // What refers to them is shown elsewhere, such as in lists of role bindings. It has no entries of its own, but without an entry
    // the org would have no revision, and answers that still show it would be used again.
    const [first] = purgeable;
    if (first !== undefined && rows.length === 0) recordChange(transaction, definition, first, first);
    return { rows: owned + rows.length, resources: rows.length };
  };

  const select = selectPurgeableIn(registry, definition);
  return {
    kind: resourceTypes[type].plural,
    selects: [select],
    async find(leftOut, now) {
      const { rows: found } = await select({ leftOut, now, limit: searchSize(rowsPerStep) }).execute(database.reads);
      const removeAt = (transaction: OrgTransaction, places: readonly (typeof found)[number][]): Promise<Removed> =>
        remove(
          transaction,
          places.map(({ id }) => id),
        );
      // What a project used of the quota of its customer is free again.
      return unitsInOrgs(dependencies, found, rowsPerStep, removeAt, type === "Project");
    },
  };
}
