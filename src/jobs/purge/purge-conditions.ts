// When a row can be purged or has expired, at a time of the database's clock. The search and the check under the lock use the same
// conditions, each with its own time.
import { type RawBuilder, sql } from "kysely";
import { customerColumnOf } from "../../database/org-key.ts";
import { type ResourceDefinition, columnsReferringTo } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";

/** A time that was read from the database's clock, or an expression for one. */
export type Time = Date | string | RawBuilder<Date>;

/**
 * Returns the condition that a resource is past its purge time, and that nothing keeps it: projects and orgs wait until the providers
 * have deleted the infrastructure resources in them.
 *
 * @param alias of the table in the statement.
 */
export function isPurgeable(
  now: Time,
  registry: ResourceRegistry,
  to: ResourceDefinition,
  alias: string = to.storage.table,
): RawBuilder<boolean> {
  const isPast = sql<boolean>`${sql.ref(`${alias}.purge_time`)} <= ${now}`;
  const unused = registry.usersOf(to.type).map(({ definition: { storage }, column }) => {
    const { table } = storage;
    const columns = columnsReferringTo(to, column);
    const equal = (own: string, of: string) => sql`${sql.ref(`${table}.${own}`)} = ${sql.ref(`${alias}.${of}`)}`;
    const refers = to.storage.key.map((each, index) => equal(columns[index] ?? "", each));
    // What refers to a row in an org, or to the org, has the same customer: its foreign key begins with it.
    const [customer, ofTo] = [customerColumnOf(table), customerOf(to)];
    if (customer !== undefined && ofTo !== undefined) refers.push(equal(customer, ofTo));
    return sql`not exists (select from ${sql.table(table)} where ${sql.join(refers, sql` and `)})`;
  });
  return sql`(${sql.join([isPast, ...unused], sql` and `)})`;
}

/** The column with the customer of a row; undefined for what is in no org, such as the catalog. */
const customerOf = ({ storage: { table } }: ResourceDefinition): string | undefined =>
  table === "orgs" ? "customer_id" : customerColumnOf(table);

export const isPastCustomer = (now: Time) => sql<boolean>`customers.purge_time <= ${now}`;

/** An org that is not past its purge time, whatever its state. */
export const orgStays = (now: Time) => sql<boolean>`(orgs.purge_time is null or orgs.purge_time > ${now})`;

export const isExpiredInvitation = (now: Time) => sql<boolean>`
  (members.invitation_expire_time <= ${now} and members.delete_time is null)`;

export const isExpiredMembership = (now: Time) => sql<boolean>`group_members.expire_time <= ${now}`;

export const isExpiredApiKey = (now: Time) => sql<boolean>`api_keys.expire_time <= ${now}`;

export const isExpiredSession = (now: Time) => sql<boolean>`sessions.expire_time <= ${now}`;

/** A customer without orgs. A soft-deleted org counts as one. */
export const hasNoOrg = sql<boolean>`not exists (select from orgs where orgs.customer_id = customers.id)`;

export const isBindingExpired = (now: Time) => sql<boolean>`role_bindings.expire_time <= ${now}`;

/** A role binding that has expired, or on a customer that is past its purge time. */
export const isExpiredRoleBinding = (now: Time) => sql<boolean>`(${isBindingExpired(now)} or ${isPastCustomer(now)})`;
