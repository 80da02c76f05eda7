import { loggedMembership, membershipPath } from "../group-members/message.ts";
import { findExpiredMemberships } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { deleteMemberships, readExpiredMemberships } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Memberships past their time. They have not counted since; now they are gone, and the change log says so. */
export function createExpiredMembershipsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, rowsPerStep } = dependencies;
  return {
    kind: "memberships",
    async find(leftOut) {
      const found = await findExpiredMemberships(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, async ({ db, org, record }, places) => {
        const memberships = await readExpiredMemberships(db, org.id, places);
        await deleteMemberships(db, org.id, memberships);
        for (const row of memberships) {
          const path = membershipPath(row);
          record({ type: "GroupMember", id: row.member_id, path, before: loggedMembership(row), after: null });
        }
        return { rows: memberships.length, resources: memberships.length };
      });
    },
  };
}
