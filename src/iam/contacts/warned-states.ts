// The states that contacts are warned about: what is disabled, suspended or deleted, if that is so since a time, and with the time since when.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type OrgKey, isInOrgOf, isLogOfCustomer } from "../../database/org-key.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { WarningKind } from "./warning-kinds.ts";

/** Of the orgs of a customer, so many are looked at that were suspended last, and that were deleted last. */
const maxOrgs = 1_000;

/** Selects the states of an org, or those of a customer and its orgs. Each has a `kind`, `subject_id`, `subject_name`, `occasion` and `end_time`. */
export function selectStates(parent: OrgKey, since: RawBuilder<unknown>): RawBuilder<unknown> {
  const own = isLogOfCustomer(parent) ? selectStatesOfCustomer(parent, since) : selectStatesOfOrg(parent, since);
  return sql`${selectDisabled(parent, "WEBHOOK_DISABLED", "webhooks", "Webhook", since)} union all ${own}`;
}

function selectStatesOfOrg(org: OrgKey, since: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    ${selectDisabled(org, "EVENT_STREAM_DISABLED", "event_streams", "EventStream", since)}
    union all
    select 'ORG_SUSPENDED', orgs.id, orgs.name, entered.time, null
    from orgs cross join lateral (${selectEntered("Org", "orgs.id", "SUSPENDED", isInOrgOf("changes", org), since)}) as entered
    where ${isThisOrg(org)} and orgs.delete_time is null and orgs.state = 'SUSPENDED' and exists (select from told)
    union all
    select 'ORG_DELETED', orgs.id, orgs.name, orgs.delete_time, orgs.purge_time from orgs
    where ${isThisOrg(org)} and orgs.delete_time > ${since}`;
}

/** An org that was deleted with its customer is no warning of its own. */
function selectStatesOfCustomer({ id }: OrgKey, since: RawBuilder<unknown>): RawBuilder<unknown> {
  const isInLog = sql<SqlBool>`changes.customer_id = ${id} and changes.org_id = suspended.id`;
  return sql`
    select 'CUSTOMER_DELETED', customers.id, customers.name, customers.delete_time, customers.purge_time from customers
    where customers.id = ${id} and customers.delete_time > ${since}
    union all
    select 'ORG_SUSPENDED', suspended.id, suspended.name, entered.time, null
    from (
      select orgs.id, orgs.name from orgs
      where orgs.customer_id = ${id} and orgs.delete_time is null and orgs.state = 'SUSPENDED' and orgs.update_time > ${since}
        and exists (select from told)
      order by orgs.update_time desc limit ${maxOrgs}
    ) as suspended
    cross join lateral (${selectEntered("Org", "suspended.id", "SUSPENDED", isInLog, since)}) as entered
    union all
    (select 'ORG_DELETED', orgs.id, orgs.name, orgs.delete_time, orgs.purge_time from orgs
    where orgs.customer_id = ${id} and orgs.delete_time > ${since} and not orgs.deleted_with_customer
    order by orgs.delete_time desc limit ${maxOrgs})`;
}

function selectDisabled(
  parent: OrgKey,
  kind: WarningKind,
  table: "webhooks" | "event_streams",
  type: string,
  since: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select ${kind} as kind, disabled.id as subject_id, disabled.name as subject_name, entered.time as occasion, null::timestamptz as end_time
    from (
      select id, name from ${sql.table(table)}
      where ${isInOrgOf(table, parent)} and state = 'DISABLED' and update_time > ${since} and ${isActive(parent)} and exists (select from told)
    ) as disabled
    cross join lateral (${selectEntered(type, "disabled.id", "DISABLED", isInOrgOf("changes", parent), since)}) as entered`;
}

/**
 * Selects when something last came into a state, if that is after a time: what has changed of it meanwhile does not matter. The log keeps
 * that for longer than anybody is warned of it.
 */
function selectEntered(
  type: string,
  id: string,
  state: string,
  isInLog: RawBuilder<SqlBool>,
  since: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select date_trunc('milliseconds', changes.time) as time from changes
    where ${isInLog} and changes.resource_id = ${sql.ref(id)} and changes.resource_type = ${type}
      and changes.time > ${since} and ${sql.raw(isInThePast)}
      and changes.after ->> 'state' = ${state} and changes.before ->> 'state' is distinct from ${state}
    order by changes.time desc limit 1`;
}

/** The condition that an org or a customer is neither suspended nor deleted. */
export function isActive(parent: OrgKey): RawBuilder<SqlBool> {
  return isLogOfCustomer(parent)
    ? sql<SqlBool>`exists (select from customers where customers.id = ${parent.id} and customers.delete_time is null)`
    : sql<SqlBool>`exists (select from orgs where ${isThisOrg(parent)} and orgs.delete_time is null and orgs.state = 'ACTIVE')`;
}

const isThisOrg = ({ customer_id: customerId, id }: OrgKey) =>
  sql<SqlBool>`orgs.customer_id = ${customerId} and orgs.id = ${id}`;
