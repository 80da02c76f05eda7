import { sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { type NamedFields, namedColumns } from "./named-fields.ts";
import { deletionColumns } from "./retention.ts";

// Statements on tables with the same named columns below an org. Kysely types a statement by its one table, so these
// are written for `members` and used for all.

export interface OrgScopedRow {
  readonly org_id: string;
  readonly id: string;
}

/** Writes the named columns of a row; answers it as it is then. */
export async function updateNamedRow<Row extends OrgScopedRow>(
  { db, revision }: OrgTransaction,
  table: "projects" | "members" | "groups",
  row: Row,
  fields: NamedFields,
): Promise<Row> {
  const updated = await db
    .updateTable(table as "members")
    .set({ ...namedColumns(fields), changed_revision: revision, update_time: sql`now()` })
    .where("org_id", "=", row.org_id)
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, ...updated };
}

/** Marks a row as deleted; answers it as it stays readable. */
export async function markDeleted<Row extends OrgScopedRow>(
  { db, revision }: OrgTransaction,
  table: "projects" | "members",
  row: Row,
): Promise<Row> {
  const deleted = await db
    .updateTable(table as "members")
    .set({ ...deletionColumns, changed_revision: revision })
    .where("org_id", "=", row.org_id)
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, ...deleted };
}
