// Finds what can be purged, the longest overdue first. What is in an org that can be purged itself is removed with the org, and
// is not found here.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { type OrgKey, customerColumnOf, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { type Time, hasNoOrg, isPastCustomer, isPurgeable, orgStays } from "./purge-conditions.ts";
import type { OrgTable } from "./org-tables.ts";

/** How much to find, and the orgs or customers to leave out. */
interface Search {
  /** By the database's clock: what was found is checked again by the time of its lock. */
  readonly now: Time;
  /** Until when what is found can be purged. Default: now. */
  readonly until?: Time;
  readonly leftOut: readonly string[];
  readonly limit: number;
}

/** Selects what can be purged, the longest overdue first, with when that began or begins. */
export type SelectPurgeable<Row> = (search: Search) => RawBuilder<Row & { readonly ends: Date }>;

/** The location of a row in an org: its key. */
interface Place {
  readonly org_id: string;
}

interface PlaceWithId extends Place {
  readonly id: string;
}

/** Whether the org of a row stays. A value, and not a join, so that rows are always read in the order of their ends. */
const ofOrgThatStays = (table: string, customer: string, now: Time) => sql<boolean>`(
  select ${orgStays(now)} from orgs
  where orgs.customer_id = ${sql.ref(`${table}.${customer}`)} and orgs.id = ${sql.ref(`${table}.org_id`)})`;

/** Returns what selects rows of a resource that have ended, which their column `end` says. */
export function selectExpired(
  { storage: { table, key } }: ResourceDefinition,
  isExpired: (now: Time) => RawBuilder<boolean>,
  end = "expire_time",
): SelectPurgeable<Place> {
  const columnOf = (name: string) => sql.ref(`${table}.${name}`);
  const customer = required(customerColumnOf(table));
  return ({ leftOut, now, until = now, limit }) => sql`
    select ${sql.join(key.map(columnOf))}, ${columnOf(end)} as ends from ${sql.table(table)}
    where ${isExpired(until)} and ${ofOrgThatStays(table, customer, now)} and ${columnOf("org_id")} <> ${noneOf(leftOut)}
    order by ${columnOf(end)} limit ${limit}`;
}

/** Selects role bindings on customers that can be purged: whether those of orgs have expired has another index. */
export const selectBindingsOfCustomers: SelectPurgeable<PlaceWithId> = ({ leftOut, now, until = now, limit }) => sql`
  select role_bindings.org_id, role_bindings.id, customers.purge_time as ends
  from customers join role_bindings on role_bindings.customer_id = customers.id
    join orgs on orgs.customer_id = role_bindings.org_customer_id and orgs.id = role_bindings.org_id
  where ${isPastCustomer(until)} and ${orgStays(now)} and orgs.id <> ${noneOf(leftOut)}
  order by customers.purge_time limit ${limit}`;

/** Returns what selects purgeable resources in orgs. */
export function selectPurgeableIn(
  registry: ResourceRegistry,
  definition: ResourceDefinition,
): SelectPurgeable<PlaceWithId> {
  return ({ leftOut, now, until = now, limit }) => sql`
    select due.org_id, due.id, due.purge_time as ends from ${sql.table(definition.storage.table)} as due
    where ${isPurgeable(until, registry, definition, "due")} and ${ofOrgThatStays("due", "customer_id", now)}
      and due.org_id <> ${noneOf(leftOut)}
    order by due.purge_time limit ${limit}`;
}

export function selectPurgeableOrgs(registry: ResourceRegistry): SelectPurgeable<OrgKey> {
  return ({ leftOut, now, until = now, limit }) => sql`
    select customer_id, id, purge_time as ends from orgs
    where ${isPurgeable(until, registry, orgDefinition)} and id <> ${noneOf(leftOut)}
    order by purge_time limit ${limit}`;
}

export const selectPurgeableCustomers: SelectPurgeable<{ readonly id: string }> = ({
  leftOut,
  now,
  until = now,
  limit,
}) => sql`
  select id, purge_time as ends from customers
  where ${isPastCustomer(until)} and ${hasNoOrg} and id <> ${noneOf(leftOut)}
  order by purge_time limit ${limit}`;

/** The location of a row: a position in its table. Another row may take it when this one has moved or is removed. */
export interface RowPlace {
  readonly table: OrgTable;
  readonly place: string;
}

/**
 * Finds rows in an org in the order of `tables`: rows that refer to others come first. After many deletions this takes a while,
 * because the database visits deleted rows until they are vacuumed. The caller must not hold a lock for that long.
 */
export async function findRowsOfOrg(
  db: Kysely<Schema>,
  tables: readonly OrgTable[],
  org: OrgKey,
  limit: number,
): Promise<RowPlace[]> {
  const found: RowPlace[] = [];
  for (const table of tables) {
    if (found.length === limit) break;
    const { rows } = await sql<{ place: string }>`
      select ctid::text as place from ${sql.table(table)} where ${isInOrgOf(table, org)}
      limit ${limit - found.length}`.execute(db);
    found.push(...rows.map(({ place }) => ({ table, place })));
  }
  return found;
}

const noneOf = (ids: readonly string[]) => sql<string>`all(${ids}::uuid[])`;
