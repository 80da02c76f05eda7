import { required } from "../../errors/required.ts";
import { memberDefinition } from "../../iam/members/definition.ts";
import { makeTransitions } from "../../standard-methods/rows/make-transitions.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { findExpiredInvitations } from "./find-purgeable.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { readExpiredInvitations } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/**
 * Creates the task that deletes members who did not accept in time. They are deleted as by a Delete, which frees their names.
 */
export function createExpiredInvitationsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const { database, retentionDays, rowsPerStep } = dependencies;
  return {
    kind: "invitations",
    async find(leftOut) {
      const found = await findExpiredInvitations(database.reads, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, async (transaction, places) => {
        const { db, org, revision, time } = transaction;
        const ids = places.map(({ id }) => id);
        const members = await readExpiredInvitations(transaction, ids);
        const making = { transition: "delete", retentionDays } as const;
        const { rows } = await makeTransitions(
          { db, orgId: org.id, revision, time },
          memberDefinition,
          members,
          making,
        );
        for (const [index, after] of rows.entries()) {
          const before = required(members[index]);
          recordChange(transaction, memberDefinition, before, after, before.invitation_expire_time);
        }
        return { rows: members.length, resources: members.length };
      });
    },
  };
}
