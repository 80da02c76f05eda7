// Inserts an org as rows, because creating it with calls would take long.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { registry } from "../../src/resource-registry.ts";
import type { Database } from "../../src/database/database.ts";
import { rebuildDerivedRows } from "../support/derived-rows.ts";
import { sampleRevision } from "../support/revisions.ts";

interface Shape {
  readonly members: number;
  readonly groups: number;
  /** Whether `resource_counts` is maintained. */
  readonly counted?: boolean;
}

/**
 * Each member is in one group, and each group is bound to a role on a project. Some rows have a state, a time or a condition
 * of each kind.
 */
export async function insertOrg({ writes }: Database, { members, groups, counted = true }: Shape): Promise<string> {
  const [customer, org] = [randomUUID(), randomUUID()];
  const id = (kind: string, number: string) => sql.raw(`md5('${org} ${kind} ' || ${number})::uuid`);
  const common = sql.raw("display_name, description, labels, changed_revision");
  const commonValues = sql.raw("'', '', '{}', gen_random_uuid()");
  await writes.transaction().execute(async (db) => {
    const statements = [
      sql`insert into customers (id, name, ${common}) values (${customer}, ${org}, ${commonValues})`,
      sql`insert into orgs (id, customer_id, name, state, revision, revision_time, ${common})
        values (${org}, ${customer}, ${org}, 'ACTIVE', ${sampleRevision(7)}, now(), '', '', '{"team": "storage"}', gen_random_uuid())`,
      sql`insert into members (customer_id, org_id, id, type, state, name, ${common}, delete_time, purge_time, invitation_expire_time)
        select ${customer}, ${org}, ${id("member", "n")}, 'USER',
          case n % 4 when 1 then 'SUSPENDED' when 2 then 'INVITED' else 'ACTIVE' end, 'member-' || n, ${commonValues},
          case when n % 7 = 3 then now() end, case when n % 7 = 3 then now() + interval '1 day' end,
          case when n % 4 = 2 then now() + interval '1 day' end
        from generate_series(1, ${members}::int) as n`,
      sql`insert into groups (customer_id, org_id, id, name, ${common})
        select ${customer}, ${org}, ${id("group", "n")}, 'group-' || n, ${commonValues} from generate_series(1, ${groups}::int) as n`,
      sql`insert into projects (customer_id, org_id, id, state, name, ${common}, delete_time, purge_time)
        select ${customer}, ${org}, ${id("project", "n")}, case when n % 3 = 0 then 'SUSPENDED' else 'ACTIVE' end, 'project-' || n,
          '', '', case when n % 2 = 0 then '{}' else jsonb_build_object('number', n::text) end, gen_random_uuid(),
          case when n % 5 = 0 then now() end, case when n % 5 = 0 then now() + interval '1 day' end
        from generate_series(1, ${groups}::int) as n`,
      sql`insert into roles (customer_id, org_id, id, permissions, name, ${common})
        values (${customer}, ${org}, ${id("role", "1")}, '{compute.instances.start,"a b, \\"c\\""}', 'starter', ${commonValues})`,
      sql`insert into group_members (customer_id, org_id, group_id, member_id, expire_time, changed_revision)
        select ${customer}, ${org}, ${id("group", `(1 + n % ${groups})`)}, ${id("member", "n")},
          case when n % 3 = 0 then timestamptz '2030-01-01 00:00:00.123Z' + n * interval '1 second' end, gen_random_uuid()
        from generate_series(1, ${members}::int) as n`,
      sql`insert into subgroups (customer_id, org_id, group_id, subgroup_id, description, changed_revision)
        select ${customer}, ${org}, ${id("group", "n")}, ${id("group", "n + 1")}, '', gen_random_uuid()
        from generate_series(1, ${groups}::int - 1) as n where n % 2 = 0`,
      sql`insert into role_bindings (org_customer_id, org_id, id, scope_type, customer_id, project_id, member_id, group_id, predefined_role,
          role_id, start_time, expire_time, condition, name, ${common})
        select ${customer}, ${org}, ${id("binding", "n")}, (array['PROJECT', 'ORG', 'CUSTOMER', 'PLATFORM'])[1 + n % 4],
          case when n % 4 = 2 then ${customer}::uuid end, case when n % 4 = 0 then ${id("project", "n")} end,
          case when n % 3 = 0 then ${id("member", "n")} end, case when n % 3 > 0 then ${id("group", "n")} end,
          case when n % 8 > 1 then 'viewer' end, case when n % 8 < 2 then ${id("role", "1")} end,
          case when n % 5 = 0 then timestamptz '1890-06-01 12:00:00.001Z' end,
          case when n % 5 = 1 then timestamptz '2040-06-01 12:00:00.999Z' end,
          case when n % 6 = 0 then 'true || "ü\\n"' else '' end, 'binding-' || n || ' of ' || ${org}::text, ${commonValues}
        from generate_series(1, ${groups}::int) as n`,
    ];
    // They refer to each other as they should. To look up each reference takes most of the time.
    await sql`set local session_replication_role = replica`.execute(db);
    for (const statement of statements) await statement.execute(db);
    if (counted) await rebuildDerivedRows(db, registry);
  });
  return org;
}
