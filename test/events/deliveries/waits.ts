import { expect } from "vitest";
import type { SqlClient } from "../../support/sql.ts";

type Waiting = "webhooks" | "event_streams";

/**
 * Lets a receiver that fails be tried again only when a test says so, however long the test takes: by itself, that comes after five
 * seconds. A test sets an earlier time, which stays.
 */
export async function stopRetries(sql: SqlClient, table: Waiting | "webhook_logs"): Promise<void> {
  await sql.query(`
    create function ${table}_wait() returns trigger language plpgsql as $$
    begin
      new.next_attempt_time := now() + interval '1 hour';
      return new;
    end $$`);
  await sql.query(`
    create trigger ${table}_wait before update on ${table} for each row
    when (new.failing_since is not null and new.next_attempt_time > old.next_attempt_time) execute function ${table}_wait()`);
}

/** Ends the wait after which a receiver that fails is tried again. A try that is under way would set one anew when it ends. */
export async function endWait(sql: SqlClient, table: Waiting, id: string): Promise<void> {
  const end = `update ${table} set next_attempt_time = 'epoch' where id = $1 and lease_end <= now() returning id`;
  await expect.poll(() => sql.query(end, [id])).toHaveLength(1);
}
