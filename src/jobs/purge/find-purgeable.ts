// Finds what can be purged, the longest overdue first. What is in an org that can be purged itself is removed with the org, and
// is not found here.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { type OrgKey, customerColumnOf, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { hasNoOrg, isPastCustomer, isPurgeable, orgStays } from "./purge-conditions.ts";
import type { OrgTable } from "./org-tables.ts";
import { secondsAfter } from "../../database/clock.ts";

/** How much to find, and the orgs or customers to leave out. */
export interface Search {
  /** By the database's clock, when the run began: what was found is checked again by the time of its lock. */
  readonly now: string;
  readonly leftOut: readonly string[];
  readonly limit: number;
}

/** The location of a row in an org: its key. */
interface Place {
  readonly org_id: string;
}

interface PlaceWithId extends Place {
  readonly id: string;
}

/** A search for what ends by itself. */
export interface EndSearch extends Search {
  /** How long before their ends rows are looked for, in milliseconds. */
  readonly aheadMs: number;
}

export interface FoundEnds {
  /** What has ended. */
  readonly places: Place[];
  /** The time until the next end, in milliseconds; Infinity if there is none within the search. */
  readonly nextMs: number;
}

interface WithEnd {
  readonly ends: Date;
}

/** Splits rows, in the order of their ends, by the time of the search. */
function splitByEnd(rows: readonly (Place & WithEnd)[], now: string): FoundEnds {
  const nowMs = Date.parse(now);
  const next = rows.find(({ ends }) => ends.getTime() > nowMs);
  return {
    places: rows.filter(({ ends }) => ends.getTime() <= nowMs),
    nextMs: next === undefined ? Infinity : next.ends.getTime() - nowMs,
  };
}

/** Returns the function that finds rows of a resource that have ended or soon do, which their column `end` says. */
export function findExpired(
  { storage: { table, key } }: ResourceDefinition,
  isExpired: (now: Date) => RawBuilder<boolean>,
  end = "expire_time",
): (db: Kysely<Schema>, search: EndSearch) => Promise<FoundEnds> {
  const columnOf = (name: string) => sql.ref(`${table}.${name}`);
  const customer = required(customerColumnOf(table));
  return async (db, { leftOut, now, limit, aheadMs }) => {
    const { rows } = await sql<Place & WithEnd>`
      select ${sql.join(key.map(columnOf))}, ${columnOf(end)} as ends
      from orgs join ${sql.table(table)} on ${columnOf(customer)} = orgs.customer_id and ${columnOf("org_id")} = orgs.id
      where ${isExpired(secondsAfter(now, aheadMs / 1000))} and ${orgStays(now)} and orgs.id <> ${noneOf(leftOut)}
      order by ${columnOf(end)} limit ${limit}`.execute(db);
    return splitByEnd(rows, now);
  };
}

/** Runs two selects, because each condition has its own index. */
export async function findExpiredRoleBindings(
  db: Kysely<Schema>,
  { leftOut, now, limit, aheadMs }: EndSearch,
): Promise<FoundEnds> {
  const places = db
    .selectFrom("orgs")
    .innerJoin("role_bindings", (join) =>
      join
        .onRef("role_bindings.org_customer_id", "=", "orgs.customer_id")
        .onRef("role_bindings.org_id", "=", "orgs.id"),
    )
    .select(["role_bindings.org_id", "role_bindings.id"])
    .where(orgStays(now))
    .where("role_bindings.org_id", "<>", noneOf(leftOut));
  const expiring = await places
    .select(sql<Date>`role_bindings.expire_time`.as("ends"))
    .where(sql<boolean>`role_bindings.expire_time <= ${secondsAfter(now, aheadMs / 1000)}`)
    .orderBy("role_bindings.expire_time")
    .limit(limit)
    .execute();
  const found = splitByEnd(expiring, now);
  if (found.places.length > 0) return found;
  const ofCustomers = await places
    .innerJoin("customers", "customers.id", "role_bindings.customer_id")
    .where(isPastCustomer(now))
    .orderBy("customers.purge_time")
    .limit(limit)
    .execute();
  return { ...found, places: ofCustomers };
}

/**
 * Finds purgeable resources in orgs. Kysely types a statement by its one table, so this is written for members and used for all
 * resources that are soft-deleted.
 */
export async function findPurgeableIn(
  db: Kysely<Schema>,
  registry: ResourceRegistry,
  definition: ResourceDefinition,
  { leftOut, limit, now }: Search,
): Promise<PlaceWithId[]> {
  return db
    .selectFrom("orgs")
    .innerJoin(`${definition.storage.table as "members"} as due`, (join) =>
      join.onRef("due.customer_id", "=", "orgs.customer_id").onRef("due.org_id", "=", "orgs.id"),
    )
    .select(["due.org_id", "due.id"])
    .where(isPurgeable(now, registry, definition, "due"))
    .where(orgStays(now))
    .where("due.org_id", "<>", noneOf(leftOut))
    .orderBy("due.purge_time")
    .limit(limit)
    .execute();
}

export async function findPurgeableOrgs(
  db: Kysely<Schema>,
  registry: ResourceRegistry,
  { leftOut, limit, now }: Search,
): Promise<OrgKey[]> {
  return db
    .selectFrom("orgs")
    .select(["customer_id", "id"])
    .where(isPurgeable(now, registry, orgDefinition))
    .where("id", "<>", noneOf(leftOut))
    .orderBy("purge_time")
    .limit(limit)
    .execute();
}

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

export async function findPurgeableCustomers(
  db: Kysely<Schema>,
  { leftOut, limit, now }: Search,
): Promise<{ id: string }[]> {
  return db
    .selectFrom("customers")
    .select("id")
    .where(isPastCustomer(now))
    .where(hasNoOrg)
    .where("id", "<>", noneOf(leftOut))
    .orderBy("purge_time")
    .limit(limit)
    .execute();
}

const noneOf = (ids: readonly string[]) => sql<string>`all(${ids}::uuid[])`;
