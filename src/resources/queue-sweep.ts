import { sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";

/**
 * Queues a sweep of an org or a project: the resources in it are to follow its state. Called in each write that changes the
 * state, under the lock of the org. Does nothing if there are no resources.
 *
 * @param scopeId the id of the project, or of the org itself.
 */
export async function queueSweep({ db, org, time }: OrgTransaction, scopeId: string): Promise<void> {
  await sql`
    insert into sweeps (customer_id, org_id, scope_id, next_time)
    select ${org.customer_id}::uuid, ${org.id}::uuid, ${scopeId}::uuid, ${time}::timestamptz
    where exists (select from resources
      where customer_id = ${org.customer_id} and org_id = ${org.id} and ${scopeId}::uuid in (org_id, project_id))
    on conflict (customer_id, org_id, scope_id) do update
      set after_id = null, is_pending = false, rounds = 0, next_time = excluded.next_time`.execute(db);
}

/**
 * Lets the sweeps in an org, if there are any, go on at once: a resource, or what it used, may have to follow now. Sent together with
 * the next statement.
 */
export function wakeSweeps({ db, org, time }: OrgTransaction): void {
  db.sendWithNext(
    sql`update sweeps set next_time = ${time} where customer_id = ${org.customer_id} and org_id = ${org.id}`.compile(
      db,
    ),
  );
}
