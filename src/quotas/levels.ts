// The levels that have a quota: customers, orgs and projects. A resource counts against the quotas of its project, the project's
// org and the org's customer.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { platform } from "../access/evaluation/target-path.ts";
import { type PathLevel, customerLevel, orgLevel, projectLevel } from "../database/match-reference.ts";
import type { RowsQuery } from "../database/path-lookup.ts";
import type { Schema } from "../database/schema.ts";
import { formatPath, formatReferences, orgPathName, pathName } from "../paths/format-path.ts";
import { type PathPattern, patterns } from "../paths/patterns.ts";
import type { AnyPath, Reference } from "../paths/parse-path.ts";

export type LevelKind = "customer" | "org" | "project";

/** The project of a resource, and what contains it, by their ids. */
export interface LedgerPlace {
  readonly customerId: string;
  readonly orgId: string;
  readonly projectId: string;
}

/** The amounts of one kind, exact decimals. The maximum is null if there is no limit. */
interface KindAmounts {
  readonly maximum: string | null;
  readonly used: string;
  readonly reserved: string;
}

/** A customer, org or project with its quota. */
export interface LevelRow {
  readonly kind: LevelKind;
  readonly id: string;
  readonly path: string;
  readonly isDeleted: boolean;
  /** By kind. */
  readonly quotas: Readonly<Record<string, KindAmounts>>;
  /** The number of resources of each type directly in a customer or an org; empty for a project. */
  readonly counts: Readonly<Record<string, number>>;
  /** The customer of its rows in `quotas`. */
  readonly customerId: string;
  /** The org of its rows there; null for a customer. */
  readonly orgId: string | null;
  /** One level above: who holds the permission to update quotas there can raise limits here. */
  readonly above: AnyPath;
}

/** How a level is found. */
export interface Level {
  readonly kind: LevelKind;
  readonly pattern: PathPattern;
  readonly pathLevels: readonly PathLevel[];
  readonly select: (db: Kysely<Schema>) => RowsQuery<unknown>;
  readonly toLevelRow: (row: never) => LevelRow;
}

type CustomerLevelRow = Awaited<ReturnType<ReturnType<typeof selectCustomerLevel>["execute"]>>[number];
type OrgLevelRow = Awaited<ReturnType<ReturnType<typeof selectOrgLevel>["execute"]>>[number];
type ProjectLevelRow = Awaited<ReturnType<ReturnType<typeof selectProjectLevel>["execute"]>>[number];

export const levels: readonly Level[] = [
  {
    kind: "customer",
    pattern: patterns.Customer,
    pathLevels: [customerLevel],
    select: selectCustomerLevel,
    toLevelRow: (row: CustomerLevelRow) => ({
      ...commonOf("customer", row),
      path: formatPath(patterns.Customer, pathName(row)),
      customerId: row.id,
      orgId: null,
      above: platform,
    }),
  },
  {
    kind: "org",
    pattern: patterns.Org,
    pathLevels: [orgLevel],
    select: selectOrgLevel,
    toLevelRow: (row: OrgLevelRow) => ({
      ...commonOf("org", row),
      path: formatPath(patterns.Org, pathName(row)),
      customerId: row.customer_id,
      orgId: row.id,
      above: {
        pattern: patterns.Customer,
        references: [aboveBy(row.customer_id, row.customer_name, row.customer_delete_time)],
      },
    }),
  },
  {
    kind: "project",
    pattern: patterns.Project,
    pathLevels: [orgLevel, projectLevel],
    select: selectProjectLevel,
    toLevelRow: (row: ProjectLevelRow) => ({
      ...commonOf("project", row),
      path: formatPath(patterns.Project, orgPathName(row), pathName(row)),
      customerId: row.customer_id,
      orgId: row.org_id,
      above: { pattern: patterns.Org, references: [aboveBy(row.org_id, row.org_name, row.org_delete_time)] },
    }),
  },
];

function aboveBy(value: string, name: string, deleteTime: Date | null): Reference {
  return { by: "id", value, ...(deleteTime === null && { shown: name }) };
}

interface CommonRow {
  readonly id: string;
  readonly delete_time: Date | null;
  readonly quotas: LevelRow["quotas"];
  readonly counts: LevelRow["counts"];
}

function commonOf(kind: LevelKind, { id, delete_time, quotas, counts }: CommonRow) {
  return { kind, id, isDeleted: delete_time !== null, quotas, counts };
}

function selectCustomerLevel(db: Kysely<Schema>) {
  return db
    .selectFrom("customers")
    .select(["customers.id", "customers.name", "customers.delete_time"])
    .select(quotasOf(sql.ref("customers.id"), sql.ref("customers.id")))
    .select(
      sql<LevelRow["counts"]>`(
        select jsonb_build_object('Org', count(*)) from orgs
        where orgs.customer_id = customers.id and orgs.delete_time is null
      )`.as("counts"),
    );
}

function selectOrgLevel(db: Kysely<Schema>) {
  return db
    .selectFrom("customers")
    .innerJoin("orgs", "orgs.customer_id", "customers.id")
    .select(["orgs.id", "orgs.name", "orgs.delete_time", "orgs.customer_id"])
    .select(["customers.name as customer_name", "customers.delete_time as customer_delete_time"])
    .select(quotasOf(sql.ref("orgs.customer_id"), sql.ref("orgs.id")))
    .select(
      sql<LevelRow["counts"]>`(
        select coalesce(jsonb_object_agg(resource_type, count), '{}') from resource_counts
        where resource_counts.customer_id = orgs.customer_id and resource_counts.org_id = orgs.id
          and resource_counts.parent_id = orgs.id
      )`.as("counts"),
    );
}

function selectProjectLevel(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("projects", (join) =>
      join.onRef("projects.customer_id", "=", "orgs.customer_id").onRef("projects.org_id", "=", "orgs.id"),
    )
    .select(["projects.customer_id", "projects.org_id", "projects.id", "projects.name", "projects.delete_time"])
    .select(["orgs.name as org_name", "orgs.delete_time as org_delete_time"])
    .select(quotasOf(sql.ref("projects.customer_id"), sql.ref("projects.id")))
    .select(sql<LevelRow["counts"]>`'{}'::jsonb`.as("counts"));
}

/** Returns the quotas of a scope by kind. Amounts are texts, because numbers in JSON would be read as doubles. */
function quotasOf(customerId: RawBuilder<unknown>, scopeId: RawBuilder<unknown>) {
  return sql<LevelRow["quotas"]>`(
    select coalesce(jsonb_object_agg(kind, jsonb_build_object(
      'maximum', maximum::text, 'used', used::text, 'reserved', reserved::text)), '{}')
    from quotas where quotas.customer_id = ${customerId} and quotas.scope_id = ${scopeId}
  )`.as("quotas");
}

/** Returns the path of the level above, as messages name it. */
export function pathAbove({ pattern, references }: LevelRow["above"]): string {
  return pattern.length === 0 ? "the platform" : formatReferences(pattern, references);
}
