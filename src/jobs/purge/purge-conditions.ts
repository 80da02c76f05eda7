// When a row can be purged or has expired, by the database's clock. The search and the check under the lock use the same
// conditions.
import { type RawBuilder, sql } from "kysely";

/**
 * Returns the condition that a resource is past its purge time. Projects and orgs also wait until the providers have deleted the
 * infrastructure resources in them.
 *
 * @param alias of the table in the statement.
 */
export function isPurgeable(table: string, alias = table): RawBuilder<boolean> {
  const isPast = sql<boolean>`${sql.ref(`${alias}.purge_time`)} <= now()`;
  const id = sql.ref(`${alias}.id`);
  switch (table) {
    case "projects":
      return sql`(${isPast} and not exists (
        select from resources where resources.org_id = ${sql.ref(`${alias}.org_id`)} and resources.project_id = ${id}))`;
    case "orgs":
      return sql`(${isPast} and not exists (select from resources where resources.org_id = ${id}))`;
    default:
      return isPast;
  }
}

/** An org that is not past its purge time, whatever its state. */
export const orgStays = sql<boolean>`(orgs.purge_time is null or orgs.purge_time > now())`;

export const isExpiredInvitation = sql<boolean>`
  (members.invitation_expire_time <= now() and members.delete_time is null)`;

/** A membership that has expired. */
export const isExpiredMembership = sql<boolean>`group_members.expire_time <= now()`;

export const isExpiredApiKey = sql<boolean>`api_keys.expire_time <= now()`;

/** A customer without orgs. A soft-deleted org counts as one. */
export const hasNoOrg = sql<boolean>`not exists (select from orgs where orgs.customer_id = customers.id)`;

/** A role binding that has expired, or on a customer that is past its purge time. */
export const isExpiredRoleBinding = sql<boolean>`(role_bindings.expire_time <= now() or customers.purge_time <= now())`;
