import { type Kysely, sql } from "kysely";
import type { Database } from "../database/database.ts";
import type { NamedTable } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import { notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { singular } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type PathLookup, createPathLookup } from "./path-lookup.ts";

/** Turns what a list is asked for into ids: `orgs/acme/groups/-` into `orgs/@<id>/groups/-`. */
type ParentResolver = (parent: readonly Reference[]) => Promise<readonly Reference[]>;

/** The ids on the way down to a row, from the top. */
interface Ids {
  readonly ids: readonly string[];
}

export interface Parents {
  readonly customer: ParentResolver;
  readonly org: ParentResolver;
  readonly project: ParentResolver;
  readonly member: ParentResolver;
  readonly group: ParentResolver;
}

/**
 * Resolvers for the parents of lists. A reference that comes before any `-` must exist; those after one select what
 * there is.
 */
export function createParents(database: Database): Parents {
  const orgs = createPathLookup<Ids>(database, "org_ids", ["orgs"], selectOrgIds(database.reads));
  const customers = createPathLookup<Ids>(
    database,
    "customer_ids_on_path",
    ["customers"],
    selectCustomerIds(database.reads),
  );
  const projects = createPathLookup<Ids>(
    database,
    "project_ids",
    ["orgs", "projects"],
    selectProjectIds(database.reads),
  );
  const members = createPathLookup<Ids>(database, "member_ids", ["orgs", "members"], selectMemberIds(database.reads));
  const groups = createPathLookup<Ids>(database, "group_ids", ["orgs", "groups"], selectGroupIds(database.reads));
  return {
    customer: createResolver(["customers"], [customers]),
    org: createResolver(["orgs"], [orgs]),
    project: createResolver(["orgs", "projects"], [orgs, projects]),
    member: createResolver(["orgs", "members"], [orgs, members]),
    group: createResolver(["orgs", "groups"], [orgs, groups]),
  };
}

/** @param lookups by how many references they take: the first takes one. */
function createResolver(tables: readonly NamedTable[], lookups: readonly PathLookup<Ids>[]): ParentResolver {
  return async (parent) => {
    const firstAny = parent.findIndex((reference) => reference.by === "any");
    const concrete = firstAny === -1 ? parent : parent.slice(0, firstAny);
    const lookup = lookups[concrete.length - 1];
    if (lookup === undefined) return parent;
    const found = await lookup(concrete);
    if (found === undefined) {
      throw notFound(singular(tables[concrete.length - 1] ?? ""), formatReferences(tables, concrete));
    }
    return [...found.ids.map((id): Reference => ({ by: "id", value: id })), ...parent.slice(concrete.length)];
  };
}

const selectOrgIds = (db: Kysely<Schema>) => db.selectFrom("orgs").select(sql<string[]>`array[orgs.id]`.as("ids"));

const selectCustomerIds = (db: Kysely<Schema>) =>
  db.selectFrom("customers").select(sql<string[]>`array[customers.id]`.as("ids"));

const selectProjectIds = (db: Kysely<Schema>) =>
  db
    .selectFrom("orgs")
    .innerJoin("projects", "projects.org_id", "orgs.id")
    .select(sql<string[]>`array[orgs.id, projects.id]`.as("ids"));

const selectMemberIds = (db: Kysely<Schema>) =>
  db
    .selectFrom("orgs")
    .innerJoin("members", "members.org_id", "orgs.id")
    .select(sql<string[]>`array[orgs.id, members.id]`.as("ids"));

const selectGroupIds = (db: Kysely<Schema>) =>
  db
    .selectFrom("orgs")
    .innerJoin("groups", "groups.org_id", "orgs.id")
    .select(sql<string[]>`array[orgs.id, groups.id]`.as("ids"));
