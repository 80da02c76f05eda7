// Large orgs for the access benchmarks. Each member is in two groups. There is a group for every 20 members, nested by tens,
// and a project for every ten, where one group is bound.
import pg from "pg";
import { rebuild } from "./rebuild.ts";

export interface Org {
  readonly name: string;
  readonly members: number;
  readonly groups: number;
  readonly projects: number;
}

/** The permission that a third of the bindings grant. */
export const permission = "compute.instances.start";

export function shapeOrg(members: number): Org {
  return {
    name: `org-${members}`,
    members,
    groups: Math.max(100, Math.floor(members / 20)),
    projects: Math.max(100, Math.floor(members / 10)),
  };
}

/** Fills existing orgs with SQL, because the service would take an hour. Constraints are disabled in this session. */
export async function fillOrgs(databaseUrl: string, orgs: readonly Org[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("set session_replication_role = replica");
    // The data need not survive a crash.
    for (const setting of ["fsync = off", "full_page_writes = off", "max_wal_size = '8GB'"]) {
      await client.query(`alter system set ${setting}`);
    }
    await client.query("select pg_reload_conf()");
    // Ids ascend like those of the service, and are derived from the number.
    await client.query(`
    create function pg_temp.id_of(org uuid, kind text, n int) returns uuid immutable language sql return
      (lpad(to_hex(1700000000000 + n), 12, '0') || '7000a' || substr(md5(kind || n || org), 1, 15))::uuid`);
    const common = "display_name, description, labels, changed_revision";
    const commonValues = "'', '', '{}', gen_random_uuid()";
    for (const { name, members, groups, projects } of orgs) {
      const { rows } = await client.query<{ id: string; customer_id: string }>(
        "select id, customer_id from orgs where name = $1",
        [name],
      );
      const org = `'${rows[0]?.id}'::uuid`;
      const customer = `'${rows[0]?.customer_id}'::uuid`;
      const id = (kind: string, number: string): string => `pg_temp.id_of(${org}, '${kind}', (${number})::int)`;
      const startedAt = performance.now();
      await client.query(`insert into members (customer_id, org_id, id, type, state, name, ${common})
      select ${customer}, ${org}, ${id("member", "n")}, 'USER', 'ACTIVE', 'member-' || n, ${commonValues}
      from generate_series(0, ${members - 1}) as n`);
      await client.query(`insert into groups (customer_id, org_id, id, name, ${common})
      select ${customer}, ${org}, ${id("group", "n")}, 'group-' || n, ${commonValues} from generate_series(0, ${groups - 1}) as n`);
      await client.query(`insert into projects (customer_id, org_id, id, state, name, ${common})
      select ${customer}, ${org}, ${id("project", "n")}, 'ACTIVE', 'project-' || n, ${commonValues}
      from generate_series(0, ${projects - 1}) as n`);
      // Inserting in key order takes half the time.
      await client.query(`insert into group_members (customer_id, org_id, group_id, member_id, changed_revision)
        select ${customer}, ${org}, groups.id, members.id, gen_random_uuid()
        from (select id, substr(name, 8)::bigint as n from members where org_id = ${org}) members
        cross join (values (1, 0), (31, 1)) as other (step, start)
        join (select id, substr(name, 7)::bigint as n from groups where org_id = ${org}) groups
          on groups.n = (members.n * step + start) % ${groups}
        where start = 0 or groups.n <> members.n % ${groups}
        order by 3, 4`);
      await client.query(`insert into subgroups (customer_id, org_id, group_id, subgroup_id, description, changed_revision)
      select ${customer}, ${org}, ${id("group", "n")}, ${id("group", "n * 10")}, '', gen_random_uuid()
      from generate_series(1, ${Math.floor(groups / 10) - 1}) as n`);
      await client.query(`insert into role_bindings
      (org_customer_id, org_id, id, scope_type, project_id, group_id, predefined_role, condition, name, ${common})
      select ${customer}, ${org}, ${id("binding", "n")}, 'PROJECT', ${id("project", `n % ${projects}`)}, ${id("group", "n")},
        case when n % 3 = 0 then 'admin' else 'viewer' end, '', 'binding-' || n, ${commonValues}
      from generate_series(0, ${groups - 1}) as n`);
      console.log(`${members} members made in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    }
    await rebuild(databaseUrl);
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

/** Returns a question for a number. */
export function question({ name, members, groups, projects }: Org, number: number) {
  const member = (number * 7919) % members;
  // Every second question is about the project of one of the member's groups.
  const project = number % 2 === 0 ? (member % groups) % projects : (number * 31) % projects;
  return {
    subject_path: `/orgs/${name}/members/member-${member}`,
    permission,
    resource_path: `/orgs/${name}/projects/project-${project}`,
  };
}
