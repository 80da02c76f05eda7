import { type Kysely, sql } from "kysely";

/** How many months of partitions are created ahead. The servers create the following ones. */
const monthsAhead = 3;

/**
 * Moves the change log into a table that is partitioned by month, with the time of the change under the org's lock, and with
 * columns for where a change came from. `format` takes the place of `writer`: a server that does not know it cannot write. The
 * log has no foreign key to orgs, because a partition with one cannot be dropped without a lock on all orgs.
 *
 * A server of an earlier version cannot write after this migration.
 */
export async function partitionChangeLog(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `lock table orgs, changes in access exclusive mode`,
    `alter table changes rename to changes_before`,
    `alter table changes_before rename constraint changes_pkey to changes_before_pkey`,
    `alter table changes_before rename constraint changes_check to changes_before_check`,
    `create table changes (
      org_id uuid not null,
      revision uuid not null,
      position integer not null,
      time timestamptz not null,
      format smallint not null,
      actor_org_id uuid,
      actor_id uuid,
      credential_id uuid,
      on_behalf_of text,
      method text not null,
      request_id text,
      remote_address inet,
      user_agent text,
      reason text,
      resource_type text not null,
      resource_id uuid not null,
      resource_path text not null,
      end_time timestamptz,
      before jsonb,
      after jsonb,
      primary key (org_id, revision, position, time),
      check (before is not null or after is not null)
    ) partition by range (time)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
  const { rows } = await sql<{ name: string; start: string; end: string }>`
    select 'changes_' || to_char(month, 'YYYY_MM') as name,
      to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00' as start,
      to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00' as end
    from generate_series(
      date_trunc('month', coalesce((select min(create_time) from changes_before), now()) at time zone 'UTC'),
      date_trunc('month', now() at time zone 'UTC') + ${monthsAhead} * interval '1 month',
      interval '1 month'
    ) as month`.execute(db);
  for (const { name, start, end } of rows) {
    await sql`create table ${sql.table(name)} partition of changes for values from (${sql.lit(start)}) to (${sql.lit(end)})`.execute(
      db,
    );
  }
  const moves = [
    // The time of an earlier version is that of the transaction's start, which can fall from one revision to the next.
    `insert into changes (org_id, revision, position, time, format, actor_id, method, resource_type, resource_id,
        resource_path, before, after)
      select org_id, revision, position,
        max(create_time) over (partition by org_id order by revision, position rows unbounded preceding),
        writer, actor_id, method, resource_type, resource_id, resource_path, before, after
      from changes_before`,
    `drop table changes_before`,
    `create index api_keys_expire on api_keys (expire_time) where expire_time is not null`,
    `alter table orgs add column revision_time timestamptz`,
    `update orgs set revision_time = greatest(update_time, (select max(time) from changes where org_id = orgs.id))`,
    `alter table orgs alter column revision_time set not null`,
  ];
  for (const statement of moves) await sql.raw(statement).execute(db);
}
