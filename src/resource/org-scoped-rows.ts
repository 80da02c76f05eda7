import { sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { type NamedFields, namedColumns } from "./named-fields.ts";

// Statements on tables with the same named columns below an org. Kysely types a statement by its one table, so these
// are written for `projects` and used for all.

export interface OrgScopedRow {
  readonly org_id: string;
  readonly id: string;
}

/** Writes the named columns of a row; answers it as it is then. */
export async function updateNamedRow<Row extends OrgScopedRow>(
  { db, revision }: OrgTransaction,
  table: "projects" | "groups",
  row: Row,
  fields: NamedFields,
): Promise<Row> {
  const updated = await db
    .updateTable(table as "projects")
    .set({ ...namedColumns(fields), changed_revision: revision, update_time: sql`now()` })
    .where("org_id", "=", row.org_id)
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, ...updated };
}
