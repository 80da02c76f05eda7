import { type Kysely, sql } from "kysely";

/** The expressions that lists order by, besides ids. PostgreSQL uses an index only for the same expression. */
const ordered = {
  name: `name collate "C"`,
  display_name: `display_name collate "C"`,
  create_time: "create_time",
  update_time: "update_time",
};

/** Creates webhooks, with how far each has delivered. A server of an earlier version does not deliver, and cannot purge an org that has one. */
export async function createWebhooks(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `-- squawk-ignore-file prefer-bigint-over-int
    create table webhooks (
      customer_id uuid not null,
      org_id uuid not null,
      id uuid not null,
      url text not null,
      filter text not null,
      format text not null check (format in ('STANDARD', 'CLOUDEVENTS', 'NDJSON_BATCH')),
      state text not null check (state in ('ACTIVE', 'PAUSED', 'DISABLED')),
      disabled_reason text check (disabled_reason in ('GONE', 'ACCESS_LOST')),
      member_org_id uuid not null,
      member_id uuid not null,
      sealed_secret bytea not null,
      sealed_previous_secret bytea,
      previous_secret_expire_time timestamptz(3),
      cursor_time timestamptz not null,
      cursor_revision uuid not null,
      cursor_position integer not null,
      pending_time timestamptz,
      pending_revision uuid,
      pending_position integer,
      attempts integer not null default 0,
      failing_since timestamptz,
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
    `create unique index webhooks_name_key on webhooks (org_id, name, customer_id)`,
    `create index webhooks_id on webhooks using hash (id)`,
    ...Object.entries(ordered).map(([column, expression]) => {
      const last = column === "name" ? "" : ", id";
      return `create index webhooks_by_${column} on webhooks (org_id, ${expression}${last})`;
    }),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** Creates what is known of the last requests of each webhook. */
export async function createWebhookDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `-- squawk-ignore-file prefer-bigint-over-int
      create table webhook_deliveries (
        customer_id uuid not null,
        org_id uuid not null,
        webhook_id uuid not null,
        revision uuid not null,
        position integer not null,
        message_id text not null,
        change_count integer not null,
        state text not null check (state in ('DELIVERED', 'FAILED', 'DEAD')),
        attempts integer not null,
        attempt_time timestamptz(3) not null,
        next_attempt_time timestamptz(3),
        status_code integer not null,
        answer text not null,
        error text not null,
        duration_ms integer not null,
        primary key (customer_id, org_id, webhook_id, revision, position)
      )`,
    )
    .execute(db);
}
