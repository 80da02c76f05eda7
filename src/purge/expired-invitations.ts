import { loggedMember, memberPath } from "../members/message.ts";
import { makeTransition } from "../resource/lifecycle.ts";
import { required } from "../resource/required.ts";
import { findExpiredInvitations } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { readExpiredInvitations } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Each is a statement of its own, so there are fewer in a transaction, to hold the org's lock no longer. */
const share = 4;

/** Members who did not accept in time: deleted as a Delete would, which frees their names. */
export function createExpiredInvitationsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, retentionDays, rowsPerStep } = dependencies;
  return {
    kind: "invitations",
    async find(leftOut) {
      const found = await findExpiredInvitations(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, Math.ceil(rowsPerStep / share), async (transaction, places) => {
        const ids = places.map(({ id }) => id);
        const members = await readExpiredInvitations(transaction.db, transaction.org.id, ids);
        for (const before of members) {
          const after = required(await makeTransition(transaction, "members", before, "delete", retentionDays));
          transaction.record({
            type: "Member",
            id: before.id,
            path: memberPath(before),
            before: loggedMember(before),
            after: loggedMember(after),
          });
        }
        return { rows: members.length, resources: members.length };
      });
    },
  };
}
