// Enough rows that the planner has no excuse: of each resource a large parent among many small ones.
import { sql } from "kysely";
import type { Database } from "../../src/database/database.ts";
import { rebuild } from "../database/sample-rows.ts";

export const large = 20_000;
const orgs = 3000;
/** As many as the limits allow in one parent unless they are raised. */
const keysOfOne = 100;
const nestedInOne = 1000;

/** An id that tells its kind and number; ids of one kind ascend. */
const id = (kind: number, number: string): string =>
  `('0000${kind}000-' || lpad(to_hex((${number}) / 65536), 4, '0') || '-7000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`;

/** What the first org, its first group and its first member are; they have the most below them. */
export const largest = {
  org: "00002000-0000-7000-8000-000000000001",
  /** Nearly all of its members are deleted, those first that were there first. */
  otherOrg: "00002000-0000-7000-8000-000000000002",
  group: "00004000-0000-7000-8000-000000000001",
  member: "00003000-0000-7000-8000-000000000001",
  project: "00005000-0000-7000-8000-000000000001",
} as const;

/** In another order than ids. */
const timeOf = (n: string): string =>
  `timestamptz '2026-01-01' + (${n}) * 7919::bigint % 1000003 * interval '1 second'`;

/** Half of all have `half: yes`, nearly all have `most: yes`, and 3 of the large parent `few: yes`; nobody has `few: no`. */
const named = (n: string): string => `
  'n' || md5((${n})::text), 'd' || (${n}) % 50, '',
  jsonb_build_object('half', case (${n}) % 2 when 0 then 'yes' else 'no' end, 'most', case (${n}) % 100 when 0 then 'no' else 'yes' end)
    || case when ${n} in (500, 9000, 19000) then '{"few": "yes"}' else '{}' end::jsonb,
  1, ${timeOf(n)}, ${timeOf(`${large} - ${n}`)}`;

const columns = "name, display_name, description, labels, changed_revision, create_time, update_time";

/** All rows up to `large` are in the first org, and a few are in each of the others. */
const orgOf = (n: string): string => id(2, `case when ${n} <= ${large} then 1 else 2 + ${n} % ${orgs - 1} end`);

const statements = [
  `insert into customers (id, ${columns}) select ${id(1, "n")}, ${named("n")} from generate_series(1, ${large}) n`,
  `insert into orgs (id, customer_id, state, revision, ${columns})
    select ${id(2, "n")}, ${id(1, "n")}, 'ACTIVE', 1, ${named("n")} from generate_series(1, ${large}) n`,
  `insert into members (id, org_id, type, state, ${columns})
    select ${id(3, "n")}, ${orgOf("n")}, 'USER', 'ACTIVE', ${named("n")} from generate_series(1, ${2 * large}) n`,
  `insert into roles (id, org_id, permissions, ${columns})
    select ${id(7, "n")}, ${orgOf("n")}, '{}', ${named("n")} from generate_series(1, ${2 * large}) n`,
  `insert into role_bindings (id, org_id, scope_type, member_id, role_id, condition, ${columns})
    select ${id(8, "n")}, ${orgOf("n")}, 'ORG', ${id(3, "n")}, ${id(7, "n")}, '', ${named("n")}
    from generate_series(1, ${2 * large}) n`,
  // Deleted ones stay for a while.
  `update members set delete_time = now(), purge_time = now() where create_time > '2026-01-09' and name <> 'n' || md5('1')`,
  `insert into members (id, org_id, type, state, ${columns}, delete_time, purge_time)
    select ${id(0, "n")}, ${id(2, "2")}, 'USER', 'ACTIVE', ${named("n")}, now(), now() from generate_series(1, ${large}) n`,
  `insert into groups (id, org_id, ${columns})
    select ${id(4, "n")}, ${orgOf("n")}, ${named("n")} from generate_series(1, ${2 * large}) n`,
  `insert into projects (id, org_id, state, ${columns})
    select ${id(5, "n")}, ${orgOf("n")}, 'ACTIVE', ${named("n")} from generate_series(1, ${2 * large}) n`,
  `insert into api_keys (id, org_id, member_id, prefix, hash, ${columns})
    select ${id(6, "n")}, ${id(2, "1")}, ${id(3, `1 + greatest(n - ${keysOfOne}, 0)`)}, n, '', ${named("n")}
    from generate_series(1, ${large}) n`,
  `insert into group_members (org_id, group_id, member_id, changed_revision, create_time, expire_time)
    select ${id(2, "1")}, ${id(4, `1 + greatest(n - ${large}, 0)`)}, ${id(3, `1 + n % ${large}`)}, 1,
      ${timeOf("n")},
      case n % 3 when 0 then timestamptz '2099-01-01' + n * interval '1 minute' end
    from generate_series(1, ${2 * large - 1}) n`,
  `insert into subgroups (org_id, group_id, subgroup_id, description, changed_revision)
    select ${id(2, "1")}, ${id(4, `1 + greatest(n - ${nestedInOne}, 0)`)}, ${id(4, `${large} - n % 10000`)}, '', 1
    from generate_series(1, 10000) n`,
];

export async function insertManyRows(database: Database): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database.writes);
  await rebuild(database);
  await sql`vacuum analyze`.execute(database.writes);
}
