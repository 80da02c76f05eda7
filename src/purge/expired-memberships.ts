import { membershipDefinition } from "../group-members/membership-definition.ts";
import { removeRows } from "../resource/rows/remove-rows.ts";
import { recordChange } from "../resource/write/record.ts";
import { findExpiredMemberships } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { readExpiredMemberships } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Memberships past their time. They have not counted since; now they are gone, and the change log says so. */
export function createExpiredMembershipsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, registry, rowsPerStep } = dependencies;
  return {
    kind: "memberships",
    async find(leftOut) {
      const found = await findExpiredMemberships(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, async (transaction, places) => {
        const { db, org } = transaction;
        const memberships = await readExpiredMemberships(db, org.id, places);
        await removeRows(db, registry, membershipDefinition, org.id, memberships);
        for (const row of memberships) recordChange(transaction, membershipDefinition, row, null);
        return { rows: memberships.length, resources: memberships.length };
      });
    },
  };
}
