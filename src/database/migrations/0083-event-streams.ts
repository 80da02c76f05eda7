import { type Kysely, sql } from "kysely";

/** The expressions that lists order by, besides ids. PostgreSQL uses an index only for the same expression. */
const ordered = {
  name: `name collate "C"`,
  display_name: `display_name collate "C"`,
  create_time: "create_time",
  update_time: "update_time",
};

/** Creates event streams, with how far each has delivered. A server of an earlier version does not deliver, and cannot purge an org that has one. */
export async function createEventStreams(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `-- squawk-ignore-file prefer-bigint-over-int
    create table event_streams (
      customer_id uuid not null,
      org_id uuid not null,
      id uuid not null,
      audience text not null,
      push_url text not null,
      sealed_authorization bytea,
      event_types text[] not null,
      subject_format text not null check (subject_format in ('ISS_SUB', 'COMPLEX')),
      state text not null check (state in ('ACTIVE', 'PAUSED', 'DISABLED')),
      disabled_reason text check (disabled_reason in ('GONE', 'ACCESS_LOST', 'FAILING')),
      member_org_id uuid not null,
      member_id uuid not null,
      cursor_time timestamptz not null,
      cursor_revision uuid not null,
      cursor_position integer not null,
      acknowledged text[] not null default '{}',
      verification_id uuid,
      verification_state text,
      verification_time timestamptz(3),
      attempts integer not null default 0,
      failing_since timestamptz(3),
      status_code integer not null default 0,
      error text not null default '',
      next_attempt_time timestamptz not null default 'epoch',
      lease_id uuid,
      lease_end timestamptz not null default 'epoch',
      name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, id, customer_id),
      foreign key (customer_id, org_id) references orgs (customer_id, id)
    )`,
    `create unique index event_streams_name_key on event_streams (org_id, name, customer_id)`,
    `create index event_streams_id on event_streams using hash (id)`,
    ...Object.entries(ordered).map(([column, expression]) => {
      const last = column === "name" ? "" : ", id";
      return `create index event_streams_by_${column} on event_streams (org_id, ${expression}${last})`;
    }),
    // Few streams are pushed, and those that may have something to send are found by their revision.
    `create index event_streams_pushed on event_streams (org_id) where state = 'ACTIVE' and push_url <> ''`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
