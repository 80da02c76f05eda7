// The row of an org as it was at a revision.
import { type Transaction, sql } from "kysely";
import type { OrgKey } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { timeText } from "../../database/clock.ts";
import { type Moment, isKept, isLater } from "./find-moment.ts";

export interface PastOrg<Row = object> extends OrgKey {
  /** As it is now. */
  readonly now: Row;
  readonly head: string;
  readonly head_time: string;
  /** As it was. */
  readonly row: Row;
}

function movedMeanwhile(): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", "failed to read the org as it was; try again");
}

/**
 * Reads an org as it was, and as it is.
 *
 * @param db a transaction that reads one snapshot.
 * @param columns that are read of the row of now. That of then has all columns that the log keeps.
 * @throws ServiceError RESOURCE_NOT_FOUND, SERVICE_UNAVAILABLE when the log has lost the moment meanwhile.
 */
export async function readPastOrg<Row>(
  db: Transaction<Schema>,
  orgId: string,
  moment: Moment,
  columns: readonly string[],
): Promise<PastOrg<Row>> {
  const now = sql`jsonb_build_object(${sql.join(columns.flatMap((column) => [sql.lit(column), sql.ref(`orgs.${column}`)]))})`;
  const { rows } = await sql<PastOrg<Row> & { readonly is_kept: boolean }>`
    select id, customer_id, orgs.revision as head, ${timeText(sql`orgs.revision_time`)} as head_time, ${now} as now, coalesce(
      (
        select before from changes
        where customer_id = orgs.customer_id and org_id = orgs.id and resource_id = orgs.id and resource_type = 'Org'
          and ${isLater(moment)}
        order by revision, position limit 1
      ),
      ${now}
    ) as row, (
      orgs.revision = ${moment.revision} or exists (
        select from changes
        where customer_id = orgs.customer_id and org_id = orgs.id and changes.revision = ${moment.revision}
          and ${isKept(moment)}
      )
    ) as is_kept
    from orgs where id = ${orgId}`.execute(db);
  const [org] = rows;
  if (org === undefined) throw new ServiceError("RESOURCE_NOT_FOUND", `there is no org @${orgId}`);
  // It can be cut, or a failover lose it, while the call waits.
  if (!org.is_kept) throw movedMeanwhile();
  return org;
}

/**
 * Checks at the end that a transaction has read one state. Its statements may see two if it spans the move of a distributed table.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE
 */
export async function requireHead(db: Transaction<Schema>, { id, head }: Pick<PastOrg, "id" | "head">): Promise<void> {
  const { rows } = await sql<{ revision: string }>`select revision from orgs where id = ${id}`.execute(db);
  if (rows[0]?.revision !== head) throw movedMeanwhile();
}
