import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { deletableColumnsOf, namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { inOrder } from "../resource/in-order.ts";
import { type NamedFields, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/resource.ts";

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
    parentColumns: ["projects.org_id"],
    labelled: { type: "Project", id: "projects.id" },
    live: sql<boolean>`projects.delete_time is null`,
  } as const;
  return readPage(db, listing, selection);
}

export async function insertProjects(
  { db, org, revision }: OrgTransaction,
  projects: readonly NamedFields[],
): Promise<ProjectRow[]> {
  const values = projects.map((fields) => ({
    org_id: org.id,
    state: "ACTIVE" as const,
    ...newNamedColumns(fields, revision),
  }));
  const rows = await db.insertInto("projects").values(values).returningAll().execute();
  return inOrder(values, rows).map((row) => ({ ...row, org_name: org.name, org_delete_time: org.delete_time }));
}
