// The heads of orgs other than the caller's that are read in the statement that reads its credential.
import { type RawBuilder, sql } from "kysely";
import type { OrgHead } from "../changes/revision.ts";
import { isGuardedCustomer } from "../database/support-required.ts";
import type { RecentHead } from "./recent-orgs.ts";

/** What a statement selects of such an org; without its id, there is none. */
export interface RecentColumns {
  readonly recent_id: string | null;
  readonly recent_name: string;
  readonly recent_customer_id: string;
  readonly recent_state: OrgHead["state"];
  readonly recent_delete_time: Date | null;
  readonly recent_revision: string;
  readonly recent_is_guarded: boolean;
}

/** Selects them from `orgs as recent`. */
export const recentColumns: RawBuilder<RecentColumns> = sql`
  recent.id as recent_id, recent.name as recent_name, recent.customer_id as recent_customer_id,
  recent.state as recent_state, recent.delete_time as recent_delete_time, recent.revision as recent_revision,
  ${isGuardedCustomer(sql.ref("recent.customer_id"))} as recent_is_guarded`;

/**
 * Returns the head that a row has.
 *
 * @param now the database's clock, in milliseconds.
 * @param readAt when the read started, by this process's own clock.
 */
export function recentHeadsOf(row: RecentColumns, now: number, readAt: number): RecentHead[] {
  if (row.recent_id === null) return [];
  return [
    {
      id: row.recent_id,
      name: row.recent_name,
      customer_id: row.recent_customer_id,
      state: row.recent_state,
      delete_time: row.recent_delete_time,
      revision: row.recent_revision,
      readAt,
      now,
      isGuarded: row.recent_is_guarded,
    },
  ];
}
