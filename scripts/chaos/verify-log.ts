// Checks the change log: no gaps, each entry follows from the one before, the last ones are what the rows say, and each write is in it
// as often as its caller knows.
import type { Findings } from "./findings.ts";
import { numberOf } from "../../src/changes/revision.ts";
import type { History, Write } from "./history.ts";
import type { LoadedOrg } from "./orgs.ts";

export type Query = (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

const rule = "the change log has a gap or differs from the rows";

export async function verifyLog(
  query: Query,
  orgs: readonly LoadedOrg[],
  histories: readonly History[],
  findings: Findings,
): Promise<void> {
  for (const org of await query("select id, name, revision from orgs")) await verifyRevisions(query, org, findings);
  await verifyChains(query, findings);
  await verifyRows(query, findings);
  for (const [index, { id, path }] of orgs.entries()) {
    const history = histories[index];
    if (history !== undefined) await verifyWrites(query, id, path, history.writes, findings);
  }
}

/** Checks that the revisions of an org have no gaps, and the entries of each neither. */
async function verifyRevisions(query: Query, org: Record<string, unknown>, findings: Findings): Promise<void> {
  const revisions = await query(
    `select revision, min(position) as first, max(position) as last, count(*)::int as count, count(distinct time)::int as times,
        coalesce(min(time) > lag(min(time)) over (order by revision), true) as is_later
      from changes where org_id = $1 group by revision order by revision`,
    [org["id"]],
  );
  let expected = 1n;
  for (const { revision, first, last, count, times, is_later } of revisions) {
    const number = numberOf(String(revision));
    if (number !== expected) findings.add(rule, `${String(org["name"])} has ${number} after ${expected - 1n}`);
    expected = number + 1n;
    if (first !== 0 || Number(last) + 1 !== count || times !== 1 || is_later !== true)
      findings.add(rule, `the entries of revision ${number} of ${String(org["name"])} are not complete or in order`);
  }
  if (revisions.at(-1)?.["revision"] !== org["revision"])
    findings.add(rule, `the head of ${String(org["name"])} is not its last revision`);
}

/**
 * Checks that each entry of a resource begins with what the one before it ended with. The last use of a key has no entry. A version that
 * does not know a column leaves it out, where the next one says that it is null.
 */
async function verifyChains(query: Query, findings: Findings): Promise<void> {
  const broken = await query(
    `select resource_path, revision from (
        select resource_path, revision, before,
          lag(after) over each as previous, row_number() over each as number
        from changes window each as (partition by org_id, resource_type, resource_id order by revision, position)
      ) as entries
      where case when number = 1 then before is not null
        else jsonb_strip_nulls(before - 'last_use_time') is distinct from jsonb_strip_nulls(previous - 'last_use_time') end limit 20`,
  );
  for (const { resource_path, revision } of broken)
    findings.add(
      rule,
      `the entry of ${String(resource_path)} in ${String(revision)} does not follow from the one before`,
    );
}

/** Checks that the last entry of each resource is its row. */
async function verifyRows(query: Query, findings: Findings): Promise<void> {
  for (const [table, type] of [
    ["projects", "Project"],
    ["members", "Member"],
    ["groups", "Group"],
    ["role_bindings", "RoleBinding"],
    ["api_keys", "ApiKey"],
  ]) {
    const different = await query(
      `select coalesce(resource_path, row.name || ' of ' || row.org_id) as what from ${table} as row
        full join (
          select distinct on (resource_id) * from changes where resource_type = '${type}'
          order by resource_id, revision desc, position desc
        ) as entry on entry.org_id = row.org_id and resource_id = row.id
        where (row.id is null) <> (after is null) or row.changed_revision <> revision
          or after ->> 'description' <> row.description or after ->> 'name' <> row.name limit 20`,
    );
    for (const { what } of different) findings.add(rule, `${String(what)} is not what its last entry says`);
  }
}

/** Checks that each write is in the log: once if it was answered, otherwise once or never, and as a whole. */
async function verifyWrites(
  query: Query,
  orgId: string,
  path: string,
  writes: readonly Write[],
  findings: Findings,
): Promise<void> {
  const logged = await query(
    `select after ->> 'description' as mark, count(*)::int as count, count(distinct revision)::int as revisions
      from changes where org_id = $1 and after is not null
        and (before is null or before ->> 'description' <> after ->> 'description') group by 1`,
    [orgId],
  );
  const counts = new Map(logged.map(({ mark, count, revisions }) => [mark, { count, revisions }]));
  for (const { mark, resources, isSure } of writes) {
    const { count, revisions } = counts.get(mark) ?? { count: 0, revisions: 0 };
    const what = `${mark} in ${path}: ${Number(count)} of ${resources} entries in ${Number(revisions)} revisions`;
    if (count === 0 && isSure) findings.add("an acknowledged write is lost", what);
    else if (Number(count) > resources || Number(revisions) > 1) findings.add("a write is doubled", what);
    else if (count !== 0 && count !== resources) findings.add("a write is half there", what);
  }
}
