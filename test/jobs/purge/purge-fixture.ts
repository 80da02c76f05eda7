// A separate database for each test, because the job considers everything in it.
import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import pino from "pino";
import { onTestFinished } from "vitest";
import { registry } from "../../../src/resource-registry.ts";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { customerColumnOf } from "../../../src/database/org-key.ts";
import { openInstallation } from "../../../src/installation/open-installation.ts";
import { type PurgeJob, type PurgeJobDependencies, createPurgeJob } from "../../../src/jobs/purge/purge-job.ts";
import { rebuild } from "../../database/sample-rows.ts";
import { expectNoDrift } from "../../support/expect-no-drift.ts";
import { ledgerOn } from "../../quotas/quota-place.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { ownColumnsOf } from "../../support/written-resources.ts";

export interface PurgeFixture {
  readonly url: string;
  readonly database: Database;
  readonly systemOrg: { readonly id: string };
  /** Opens the pools of another server on the same database. */
  connect(): Database;
  /** Creates a job that the test runs. Its log lines are in `log`. */
  createJob(options?: Partial<PurgeJobDependencies>): PurgeJob;
  /** The log lines of the jobs. */
  readonly log: Record<string, unknown>[];
  query(statement: RawBuilder<unknown>): Promise<Record<string, unknown>[]>;
  /** Returns the number of rows of the org in each table that has some. */
  rowsOf(org: { readonly id: string }): Promise<Record<string, number>>;
}

export const retentionDays = 30;
const hourMs = 3_600_000;

export async function openPurgeFixture(): Promise<PurgeFixture> {
  const { url, drop } = await createTestDatabase();
  const open: Database[] = [];
  const jobs: PurgeJob[] = [];
  onTestFinished(async () => {
    await Promise.all(jobs.map((job) => job.close()));
    await Promise.all(open.map((database) => database.close()));
    await expectNoDrift(url).finally(drop);
  });
  const connect = (): Database => {
    const options = { maxReadConnections: 2, maxWriteConnections: 4, onConnectionError: () => {} };
    const database = openDatabase({ connection: { connectionString: url }, ...options });
    open.push(database);
    return database;
  };
  const database = connect();
  const installation = await openInstallation(database, () => Promise.resolve());
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const query = async (statement: RawBuilder<unknown>): Promise<Record<string, unknown>[]> =>
    (await statement.execute(database.writes)).rows as Record<string, unknown>[];

  return {
    url,
    database,
    systemOrg: { id: installation.systemOrgId },
    connect,
    createJob(options = {}) {
      const job = createPurgeJob({
        database,
        registry,
        installation,
        retentionDays,
        intervalMs: hourMs,
        logger,
        ...options,
      });
      jobs.push(job);
      return job;
    },
    log,
    query,
    async rowsOf({ id }) {
      const tables = await query(sql`
        select table_name as name from information_schema.columns
        where table_schema = 'public' and column_name = 'org_id'
          and not (select relispartition from pg_class where oid = to_regclass(table_name)) order by 1`);
      const rows: Record<string, number> = {};
      for (const { name } of tables) {
        const [found] = await query(
          sql`select count(*)::int as n from ${sql.table(String(name))} where org_id = ${id}`,
        );
        if (found?.["n"] !== 0) rows[String(name)] = Number(found?.["n"]);
      }
      return rows;
    },
  };
}

/** The numbers of rows to insert into an org. */
interface Contents {
  readonly members?: number;
  readonly keysPerMember?: number;
  readonly requestsPerMember?: number;
  readonly projects?: number;
  readonly groups?: number;
  /** The number of members in each group; they are the first of the org. */
  readonly membersPerGroup?: number;
  /** Whether the org has a custom role, which is bound to each member on the org and on each project. */
  readonly hasRoles?: boolean;
  readonly changes?: number;
}

/** Inserts rows directly, because calls would take minutes. */
export async function fillOrg(
  { query, database }: PurgeFixture,
  org: { readonly id: string },
  contents: Contents,
): Promise<void> {
  const { members = 0, keysPerMember = 0, requestsPerMember = 0, projects = 0 } = contents;
  const { groups = 0, membersPerGroup = 0, hasRoles = false, changes = 0 } = contents;
  const named = sql`customer_id, org_id, id, name, display_name, description, labels, changed_revision`;
  const customer = sql`(select customer_id from orgs where id = ${org.id})`;
  const names = (prefix: string) =>
    sql`${customer}, ${org.id}::uuid, gen_random_uuid(), ${prefix} || n, '', '', '{}'::jsonb, gen_random_uuid()`;
  await query(sql`insert into members (${named}, type, state)
    select ${names("m")}, 'USER', 'ACTIVE' from generate_series(1, ${members}) n`);
  await query(sql`insert into projects (${named}, state)
    select ${names("p")}, 'ACTIVE' from generate_series(1, ${projects}) n`);
  await query(sql`insert into groups (${named}) select ${names("g")} from generate_series(1, ${groups}) n`);
  await query(sql`insert into api_keys (${named}, member_id, prefix, hash)
    select ${names("k")}, m.id, gen_random_uuid(), '' from members m, generate_series(1, ${keysPerMember}) n
    where m.org_id = ${org.id}`);
  await query(sql`insert into write_requests (customer_id, org_id, actor_id, request_id, fingerprint, answer)
    select m.customer_id, m.org_id, m.id, gen_random_uuid(), '', '' from members m, generate_series(1, ${requestsPerMember})
    where m.org_id = ${org.id}`);
  await query(sql`insert into group_members (customer_id, org_id, group_id, member_id, changed_revision)
    select g.customer_id, g.org_id, g.id, m.id, gen_random_uuid() from groups g,
      (select * from members where org_id = ${org.id} order by id limit ${membersPerGroup}) m
    where g.org_id = ${org.id}`);
  await query(sql`insert into subgroups (customer_id, org_id, group_id, subgroup_id, description, changed_revision)
    select customer_id, org_id, id, lead, '', gen_random_uuid() from (select *, lead(id) over (order by id) from groups where org_id = ${org.id}) g
    where lead is not null`);
  if (hasRoles) {
    await query(
      sql`insert into roles (${named}, permissions) values (${customer}, ${org.id}, gen_random_uuid(), 'r', '', '', '{}', gen_random_uuid(), '{}')`,
    );
    const binding = sql`insert into role_bindings (org_customer_id, org_id, id, name, display_name, description, labels, changed_revision,
        member_id, role_id, condition, scope_type, project_id)
      select m.customer_id, m.org_id, gen_random_uuid(), m.name, '', '', '{}', gen_random_uuid(), m.id, r.id, ''`;
    const holders = sql`members m join roles r using (org_id)`;
    await query(sql`${binding}, 'ORG', null from ${holders} where m.org_id = ${org.id}`);
    await query(
      sql`${binding}, 'PROJECT', p.id from ${holders} join projects p using (org_id) where m.org_id = ${org.id}`,
    );
  }
  await query(sql`insert into changes
      (customer_id, org_id, revision, position, time, method, resource_type, resource_id, resource_path, format, after)
    select ${customer}, ${org.id}::uuid, overlay(md5('')::uuid::text placing lpad(to_hex(1000 + n), 4, '0') from 15)::uuid, 0, now(), 'test', 'Org', ${org.id}::uuid, '/orgs/x', 3, '{}'
    from generate_series(1, ${changes}) n`);
  await rebuild(database);
}

/** Values for required columns, by type. */
const empty: Readonly<Record<string, string>> = { text: "''", ARRAY: "'{}'", jsonb: "'{}'", bytea: "''" };

/** Inserts a row of each resource type that the org lacks, in the first row of its parent. */
export async function fillRest({ query, database }: PurgeFixture, org: { readonly id: string }): Promise<void> {
  const customer = sql`(select customer_id from orgs where id = ${org.id})`;
  for (const { type, storage, places, lifecycle } of registry.inOrgs.toReversed()) {
    const [found] = await query(sql`select from ${sql.table(storage.table)} where org_id = ${org.id} limit 1`);
    if (found !== undefined) continue;
    const columns = await query(sql`
      select column_name as name, data_type as type from information_schema.columns
      where table_schema = 'public' and table_name = ${storage.table} and is_nullable = 'NO' and column_default is null`);
    const values = columns.map(({ name, type: columnType }) => {
      if (name === "org_id") return sql`${org.id}::uuid`;
      if (name === customerColumnOf(storage.table)) return customer;
      if (name === storage.id || name === "changed_revision") return sql`gen_random_uuid()`;
      if (name === "state" && lifecycle !== undefined) return sql`${lifecycle.states[0]}`;
      const parent = places[0].parents.find(({ column }) => column === name);
      if (parent !== undefined)
        return sql`(select id from ${sql.table(parent.alias)} where org_id = ${org.id} limit 1)`;
      const reference = storage.references.find(({ column }) => column === name);
      if (reference !== undefined) {
        const { table } = registry.definitionOf(reference.to).storage;
        return sql`(select id from ${sql.table(table)} where org_id = ${org.id} limit 1)`;
      }
      // Some are unique in all orgs.
      if (name === "name") return sql`gen_random_uuid()::text`;
      const value = ownColumnsOf(type)[String(name)] ?? empty[String(columnType)];
      if (value === undefined) throw new Error(`nothing fills the column ${String(name)} of ${type}`);
      return sql.raw(value);
    });
    const names = sql.join(columns.map(({ name }) => sql.ref(String(name))));
    await query(
      sql`insert into ${sql.table(storage.table)} (${names}) select ${sql.join(values)} from generate_series(1, 1) as n`,
    );
  }
  await useQuota({ query, database }, org);
  await query(sql`insert into sweeps (customer_id, org_id, scope_id) values (${customer}, ${org.id}, ${org.id})`);
  await query(sql`
    insert into access_events (customer_id, org_id, id, time, last_time, count, kind, method, resource_path, reason, reason_detail)
    values (${customer}, ${org.id}, gen_random_uuid(), now(), now(), 1, 'CALL_REFUSED', '', '', '', '')`);
  await query(sql`
    insert into webhook_deliveries (customer_id, org_id, webhook_id, revision, position, message_id, change_count, state, attempts,
      attempt_time, status_code, answer, error, duration_ms)
    values (${customer}, ${org.id}, gen_random_uuid(), gen_random_uuid(), 0, '', 1, 'DELIVERED', 1, now(), 200, '', '', 1)`);
  await query(sql`
    insert into webhook_logs (customer_id, org_id, webhook_id, noted_time, cursor_time, cursor_revision, cursor_position)
    values (${customer}, ${org.id}, gen_random_uuid(), now(), now(), gen_random_uuid(), 0)`);
  await query(sql`
    insert into usage_summaries (customer_id, org_id, scope_id, divided_by, piece, id, begins, ends, orgs)
    values (${customer}, ${org.id}, ${org.id}, '', 1, ${org.id}, 0, 1, array[${org.id}::uuid]),
      (${customer}, ${customer}, ${customer}, '', 1, ${org.id}, 0, 1, array[${org.id}::uuid])`);
  await query(sql`
    insert into usage_sums (customer_id, org_id, summary_id, begins, kind, change, moment, highest)
    values (${customer}, ${org.id}, ${org.id}, 0, 'cores', 1, 1, 1), (${customer}, ${customer}, ${org.id}, 0, 'cores', 1, 1, 1)`);
  await query(sql`
    insert into past_states (customer_id, org_id, resource_type, revision, piece, time, rows)
    values (${customer}, ${org.id}, 'Org', ${org.id}, 0, now(), '[]')`);
  const first = (table: "scim_sources" | "members" | "groups") =>
    sql`(select id from ${sql.table(table)} where org_id = ${org.id} limit 1)`;
  await query(sql`
    insert into scim_users (customer_id, org_id, source_id, member_id, user_key, display_key, emails, attributes, update_time)
    values (${customer}, ${org.id}, ${first("scim_sources")}, ${first("members")}, '', '', '{}', '{"userName": "x"}', now())`);
  await query(sql`
    insert into scim_groups (customer_id, org_id, source_id, group_id, display_name, display_key, update_time)
    values (${customer}, ${org.id}, ${first("scim_sources")}, ${first("groups")}, '', '', now())`);
  await query(sql`
    insert into access_uses (customer_id, org_id, used_id, part, last_day)
    values (${customer}, ${org.id}, gen_random_uuid(), '', now())`);
  await query(sql`
    insert into managed_resources (customer_id, org_id, path_hash, content_hash, source, version)
    values (${customer}, ${org.id}, '', '', '', '')`);
  await query(
    sql`insert into ended_tokens (customer_id, org_id, id, type, end_time) values (${customer}, ${org.id}, gen_random_uuid(), 'Token', now())`,
  );
  await query(sql`
    insert into sign_in_links (id, hash, customer_id, org_id, member_id, expire_time)
    values (gen_random_uuid(), '', ${customer}, ${org.id}, gen_random_uuid(), now())`);
  await query(sql`
    insert into invitations (id, customer_id, org_id, member_id, address_hash, mail, send_time, expire_time)
    values (gen_random_uuid(), ${customer}, ${org.id}, gen_random_uuid(), '', 'NONE', now(), now())`);
  await query(sql`
    insert into contact_links (id, customer_id, org_id, contact_id, address_hash, mail, send_time, expire_time)
    values (gen_random_uuid(), ${customer}, ${org.id}, gen_random_uuid(), '', 'NONE', now(), now())`);
  await query(sql`
    insert into contact_warnings (customer_id, org_id, contact_id, kind, subject_id, occasion, attempts, attempt_time, is_sent, expire_time)
    values (${customer}, ${org.id}, gen_random_uuid(), 'ORG_DELETED', gen_random_uuid(), now(), 1, now(), true, now())`);
  await query(sql`
    insert into authorization_codes (id, hash, customer_id, org_id, member_id, client_org_id, oauth_client_id, redirect_uri, code_challenge,
      is_offline, expire_time)
    values (gen_random_uuid(), '', ${customer}, ${org.id}, gen_random_uuid(), ${org.id}, gen_random_uuid(), '', '', false, now())`);
  await query(sql`
    insert into resource_references (customer_id, org_id, resource_id, target_id)
    select customer_id, org_id, id, id from resources where org_id = ${org.id}`);
  await rebuild(database);
}

/** Adds a resource to the ledger that uses something in the org. */
async function useQuota(
  { query, database }: Pick<PurgeFixture, "query" | "database">,
  { id }: { readonly id: string },
): Promise<void> {
  const [found] = await query(sql`
    select customer_id, (select id from projects where org_id = orgs.id limit 1) as project_id,
      (select name from quantity_kinds where org_id = orgs.id limit 1) as kind
    from orgs where id = ${id}`);
  const { customer_id: customerId, project_id: projectId, kind } = found as Record<string, string>;
  const place = { customerId: String(customerId), orgId: id, projectId: String(projectId) };
  await ledgerOn(database).settle(place, randomUUID(), { [String(kind)]: 1 });
}

/** Marks rows as deleted a day ago and past their purge time. */
export async function makePurgeable(
  { query, database }: PurgeFixture,
  table: "customers" | "orgs" | "projects" | "members",
  condition: RawBuilder<unknown> = sql`true`,
): Promise<void> {
  await query(sql`update ${sql.table(table)} set delete_time = now() - interval '1 day', purge_time = now()
    where ${condition}`);
  await rebuild(database);
}

/** Marks an org and its customer as purgeable. */
export async function makeOrgPurgeable(
  fixture: PurgeFixture,
  org: { readonly id: string; readonly customer_id: string },
): Promise<void> {
  await makePurgeable(fixture, "orgs", sql`id = ${org.id}`);
  await makePurgeable(fixture, "customers", sql`id = ${org.customer_id}`);
}
