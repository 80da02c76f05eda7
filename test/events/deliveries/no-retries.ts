import type { SqlClient } from "../../support/sql.ts";

/**
 * Lets a receiver that fails be tried again only when a test says so, however long the test takes: by itself, that comes after five
 * seconds. A test sets an earlier time, which stays.
 */
export async function stopRetries(sql: SqlClient, table: "webhooks" | "webhook_logs" | "event_streams"): Promise<void> {
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
