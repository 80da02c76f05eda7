import { membershipDefinition } from "../../iam/group-members/membership-definition.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { findExpiredMemberships } from "./find-purgeable.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { readExpiredMemberships } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Creates the task that removes expired memberships, which have no effect any longer, and records that in the change log. */
export function createExpiredMembershipsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  return {
    kind: "memberships",
    async find(leftOut) {
      const found = await findExpiredMemberships(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, async (transaction, places) => {
        const { db, org } = transaction;
        const memberships = await readExpiredMemberships(transaction, places);
        await removeRows(db, registry, membershipDefinition, org.id, memberships);
        for (const row of memberships) recordChange(transaction, membershipDefinition, row, null, row.expire_time);
        return { rows: memberships.length, resources: memberships.length };
      });
    },
  };
}
