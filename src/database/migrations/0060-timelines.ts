import { type Kysely, sql } from "kysely";

/**
 * Adds the function that tells on which timeline the database writes, or null where it does not say: a managed database may not let its
 * users call the functions, or have no write-ahead log of this kind. Only in PL/pgSQL, a statement goes on after that. Servers of earlier
 * versions call the functions themselves.
 */
export async function tellTimelines(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create function log_timeline() returns integer language plpgsql as $$
begin
  -- A name of a file of the log begins with the timeline, in hexadecimal digits.
  return ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer;
exception when others then
  return null;
end
$$`,
    )
    .execute(db);
}
