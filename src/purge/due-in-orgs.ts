import type { OrgTransaction } from "../changes/write-in-org.ts";
import { resourceTypes } from "../../gen/resource-types.ts";
import type { ResourceDefinition } from "../resource/definition.ts";
import { recordChange } from "../resource/write/record.ts";
import { findDueIn } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, type Removed, searchSize } from "./purge-task.ts";
import { readDue, removeDue, removeOwnedRows } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** What stays readable in an org for a while after it was deleted. */
export function createDueTask(dependencies: PurgeTaskDependencies, definition: ResourceDefinition): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  const { type, storage } = definition;

  /** What they have goes first; when that is much, they themselves are for a later transaction. */
  const remove = async (transaction: OrgTransaction, ids: readonly string[]): Promise<Removed> => {
    const { db, org } = transaction;
    const due = await readDue(db, definition, org.id, ids);
    const owned = await removeOwnedRows(db, registry, definition, org.id, due, rowsPerStep);
    const rows = due.slice(0, rowsPerStep - owned);
    await removeDue(db, registry, definition, org.id, rows);
    for (const row of rows) recordChange(transaction, definition, row, null);
    return { rows: owned + rows.length, resources: rows.length };
  };

  return {
    kind: resourceTypes[type].plural,
    async find(leftOut) {
      const found = await findDueIn(database.reads, storage.table, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, (transaction, places) =>
        remove(
          transaction,
          places.map(({ id }) => id),
        ),
      );
    },
  };
}
