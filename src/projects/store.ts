import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { deletableColumnsOf, namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type NamedFields, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/standard-methods.ts";

export type ProjectRow = InferResult<ReturnType<typeof selectProjects>>[number];

/** All projects, with what their paths need. */
export function selectProjects(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("projects", "projects.org_id", "orgs.id")
    .select(["projects.org_id", "projects.state"])
    .select([...namedColumnsOf("projects"), ...deletableColumnsOf("projects")])
    .select(["orgs.name as org_name", "orgs.delete_time as org_delete_time"]);
}

export function findProject(db: Kysely<Schema>, path: readonly Reference[]): Promise<ProjectRow | undefined> {
  return selectProjects(db)
    .where(matchesPath(["orgs", "projects"], path))
    .executeTakeFirst();
}

export function readProjectsPage(db: Kysely<Schema>, selection: Selection): Promise<ProjectRow[]> {
  const listing = {
    rows: selectProjects(db),
    parentTables: ["orgs"],
    live: sql<boolean>`projects.delete_time is null`,
  } as const;
  return readPage(db, listing, selection);
}

export async function insertProject({ db, org, revision }: OrgTransaction, fields: NamedFields): Promise<ProjectRow> {
  const row = await db
    .insertInto("projects")
    .values({ org_id: org.id, state: "ACTIVE", ...newNamedColumns(fields, revision) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, org_name: org.name, org_delete_time: org.delete_time };
}
