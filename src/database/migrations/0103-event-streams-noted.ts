import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

/**
 * Adds up to which time each event stream knows of entries. An older server pushes what it finds itself; what it writes, others find when they
 * look at what was written lately.
 */
export async function addNotedTimeOfStreams(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table event_streams add column noted_time timestamptz not null default 'epoch'").execute(db);
}

/** That with which streams are found that have something to push, without a look at the others (src/events/deliveries/due.ts). */
export const streamIndexes: readonly Index[] = [
  {
    name: "event_streams_due",
    definition: `on event_streams (greatest(next_attempt_time, lease_end))
      where state = 'ACTIVE' and push_url <> ''
        and (noted_time > cursor_time or cursor_position <> 2147483647 or verification_id is not null)`,
  },
];
