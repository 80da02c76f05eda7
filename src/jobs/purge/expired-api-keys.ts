import { apiKeyDefinition } from "../../iam/api-keys/definition.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { findExpiredApiKeys } from "./find-purgeable.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { readExpiredApiKeys } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Creates the task that removes expired API keys, which are not accepted any longer. */
export function createExpiredApiKeysTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  return {
    kind: "expiredApiKeys",
    async find(leftOut) {
      const found = await findExpiredApiKeys(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, async (transaction, places) => {
        const { db, org } = transaction;
        const ids = places.map(({ id }) => id);
        const keys = await readExpiredApiKeys(transaction, ids);
        await removeRows(db, registry, apiKeyDefinition, org.id, keys);
        for (const row of keys) recordChange(transaction, apiKeyDefinition, row, null, row.expire_time);
        return { rows: keys.length, resources: keys.length };
      });
    },
  };
}
