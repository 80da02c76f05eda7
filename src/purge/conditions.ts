// When something is due, by the database's clock: the same when it is looked for and when it is looked at again under its
// lock.
import { sql } from "kysely";

/** @param table or its alias. */
export const isDue = (table: string) => sql<boolean>`${sql.ref(`${table}.purge_time`)} <= now()`;

/** That an org is not due, whatever else its state is. */
export const orgStays = sql<boolean>`(orgs.purge_time is null or orgs.purge_time > now())`;

export const isExpiredInvitation = sql<boolean>`
  (members.invitation_expire_time <= now() and members.delete_time is null)`;

/** That a membership has. */
export const hasExpired = sql<boolean>`group_members.expire_time <= now()`;

/** That a customer has none, deleted ones included. */
export const hasNoOrg = sql<boolean>`not exists (select from orgs where orgs.customer_id = customers.id)`;

/** A role binding past its time, or on a customer that is due. */
export const isSpentRoleBinding = sql<boolean>`(role_bindings.expire_time <= now() or customers.purge_time <= now())`;
