import { type Kysely, type RawBuilder, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { RowsQuery } from "../../database/path-lookup.ts";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import { apiKeyDefinition } from "../../iam/api-keys/definition.ts";
import { selectApiKeys } from "../../iam/api-keys/store.ts";
import { membershipDefinition } from "../../iam/group-members/membership-definition.ts";
import { selectKeptMemberships } from "../../iam/group-members/membership-store.ts";
import { memberDefinition } from "../../iam/members/definition.ts";
import { selectMembers } from "../../iam/members/store.ts";
import { roleBindingDefinition } from "../../iam/role-bindings/definition.ts";
import { selectKeptRoleBindings } from "../../iam/role-bindings/store.ts";
import { sessionDefinition } from "../../iam/sessions/definition.ts";
import { selectAllSessions } from "../../iam/sessions/store.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import { makeTransitions } from "../../standard-methods/rows/make-transitions.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { type SelectPurgeable, selectBindingsOfCustomers, selectExpired } from "./find-purgeable.ts";
import {
  type Time,
  isBindingExpired,
  isExpiredApiKey,
  isExpiredInvitation,
  isExpiredMembership,
  isExpiredRoleBinding,
  isExpiredSession,
} from "./purge-conditions.ts";
import { type PurgeTask, type PurgeTaskDependencies, searchSize } from "./purge-task.ts";
import { isOneOf } from "../../standard-methods/rows/row-key.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** Rows that end by themselves, at a time in one of their columns. */
interface Expiring<Row> {
  readonly kind: string;
  readonly definition: ResourceDefinition;
  readonly isExpired: (now: Time) => RawBuilder<boolean>;
  /** Selects rows, including those that have ended. */
  readonly select: (db: Kysely<Schema>) => RowsQuery<Row>;
  /** How those are found that have ended, the first that finds some. */
  readonly selects: readonly SelectPurgeable<{ readonly org_id: string }>[];
  /** Removes rows that have ended, and records that. */
  readonly remove: (transaction: OrgTransaction, rows: readonly Row[]) => Promise<void>;
}

/**
 * Creates the tasks that remove memberships, role bindings, API keys and sessions that have expired, and delete members who did not
 * accept.
 */
export function createExpiryTasks(dependencies: PurgeTaskDependencies): PurgeTask[] {
  const { registry } = dependencies;

  /** Removes rows. Each has its own end in the change log, unless `endOf` says otherwise. */
  const removing =
    <Row extends { readonly expire_time: Date | null }>(
      definition: ResourceDefinition,
      endOf = (row: Row, _org: OrgTransaction["org"]): Date | null => row.expire_time,
    ): Expiring<Row>["remove"] =>
    async (transaction, rows) => {
      await removeRows(transaction.db, registry, definition, transaction.org, rows);
      for (const row of rows) recordChange(transaction, definition, row, null, endOf(row, transaction.org));
    };

  return [
    createInvitationsTask(dependencies),
    createTask(dependencies, {
      kind: "memberships",
      definition: membershipDefinition,
      isExpired: isExpiredMembership,
      select: selectKeptMemberships,
      selects: [selectExpired(membershipDefinition, isExpiredMembership)],
      remove: removing(membershipDefinition),
    }),
    createTask(dependencies, {
      kind: "roleBindings",
      definition: roleBindingDefinition,
      isExpired: isExpiredRoleBinding,
      select: selectKeptRoleBindings,
      selects: [selectExpired(roleBindingDefinition, isBindingExpired), selectBindingsOfCustomers],
      // Bindings on a customer that is removed may not have expired.
      remove: removing(roleBindingDefinition, ({ expire_time: end }, { lockTime }) =>
        end !== null && end <= lockTime ? end : null,
      ),
    }),
    createTask(dependencies, {
      kind: "expiredApiKeys",
      definition: apiKeyDefinition,
      isExpired: isExpiredApiKey,
      select: selectApiKeys,
      selects: [selectExpired(apiKeyDefinition, isExpiredApiKey)],
      remove: removing(apiKeyDefinition),
    }),
    createTask(dependencies, {
      kind: "sessions",
      definition: sessionDefinition,
      isExpired: isExpiredSession,
      select: selectAllSessions,
      selects: [selectExpired(sessionDefinition, isExpiredSession)],
      remove: removing(sessionDefinition),
    }),
  ];
}

/** Creates the task that deletes members who did not accept, as by a Delete, which frees their names. */
function createInvitationsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const making = { transition: "delete", retentionDays: dependencies.retentionDays } as const;
  return createTask(dependencies, {
    kind: "invitations",
    definition: memberDefinition,
    isExpired: isExpiredInvitation,
    select: selectMembers,
    selects: [selectExpired(memberDefinition, isExpiredInvitation, "invitation_expire_time")],
    async remove(transaction, members) {
      const { db, org, revision, time } = transaction;
      const { rows } = await makeTransitions({ db, org, revision, time }, memberDefinition, members, making);
      for (const [index, after] of rows.entries()) {
        const before = required(members[index]);
        recordChange(transaction, memberDefinition, before, after, before.invitation_expire_time);
      }
    },
  });
}

function createTask<Row extends object>(
  dependencies: PurgeTaskDependencies,
  { kind, definition, isExpired, select, selects, remove }: Expiring<Row>,
): PurgeTask {
  const { database, rowsPerStep } = dependencies;
  return {
    kind,
    selects,
    async find(leftOut, now) {
      const search = { leftOut, now, limit: searchSize(rowsPerStep) };
      let places: readonly { readonly org_id: string }[] = [];
      for (const selectEnded of selects) {
        if (places.length === 0) places = (await selectEnded(search).execute(database.reads)).rows;
      }
      return unitsInOrgs(dependencies, places, rowsPerStep, async (transaction, some) => {
        const isWanted = sql<boolean>`(${isOneOf(definition, some)} and ${isExpired(transaction.org.lockTime)})`;
        const { rows } = await transaction.db.executeQuery(select(transaction.db).where(isWanted).compile());
        await remove(transaction, rows);
        return { rows: rows.length, resources: rows.length };
      });
    },
  };
}
