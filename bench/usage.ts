// Benchmarks questions about the usage of an org over a year: the first one, which sums up the log, and the next ones. Run with
// `npm run bench:usage` or, in some seconds, `npm run bench:usage -- --resources 10000`. Half of the resources were deleted a month after
// their creation. A million takes some 4 GB on the disk, and some minutes to be there.
import { parseArgs } from "node:util";
import pg from "pg";
import { required } from "../src/errors/required.ts";
import { startPostgres, startService } from "./start-bench.ts";

const { values } = parseArgs({ options: { resources: { type: "string", default: "1000000" } } });
const resources = Number(values.resources);
const days = 365;
const projects = 20;

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.databaseUrl });
const service = await startService(postgres.databaseUrl, postgres.directory);
const headers = { authorization: `Bearer ${await service.readOperatorKey()}`, "content-type": "application/json" };

interface Answer {
  readonly series?: readonly { readonly points: readonly unknown[] }[];
  readonly error?: { readonly status: string };
}

/** Calls a method by its path; a POST if there is a body. */
async function call(path: string, body?: object): Promise<Answer> {
  const request = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${service.url}/${path}`, request);
  const answer = (await response.json()) as Answer;
  if (!response.ok && answer.error?.status !== "DEADLINE_EXCEEDED") throw new Error(JSON.stringify(answer));
  return answer;
}

try {
  await client.connect();
  await createCatalog();
  await fillLog();
  for (const [name, query] of questions()) await ask(name, query);
  await reportSize();
} finally {
  await service.stop();
  await client.end();
  await postgres.stop();
}

async function createCatalog(): Promise<void> {
  await call("iam/v1alpha/orgs", { name: "acme" });
  for (let n = 0; n < projects; n++) await call("iam/v1alpha/orgs/acme/projects", { name: `p${n}` });
  for (const name of ["cores", "ram"]) await call("resources/v1alpha/quantityKinds", { name, unit: "one" });
  await call("resources/v1alpha/services", { name: "compute" });
  const operations = ["create", "delete", "suspend", "resume"].map((verb) => ({ verb }));
  for (const name of ["small", "large"]) {
    await call("resources/v1alpha/services/compute/resourceTypes", { name, collection: name, operations });
  }
}

/** Fills the log of a year, and what is there now. */
async function fillLog(): Promise<void> {
  const startedAt = performance.now();
  for (let back = 1; back <= 13; back++) {
    const { rows } = await client.query<{ name: string; from: string; to: string }>(
      `select 'changes_' || to_char(month, 'YYYY_MM') as name, month || '+00' as from, month + interval '1 month' || '+00' as to
      from (select date_trunc('month', now() at time zone 'UTC') - $1::int * interval '1 month' as month) as months`,
      [back],
    );
    const { name, from, to } = required(rows[0]);
    await client.query(`create table ${name} (like changes including all)`);
    await client.query(`alter table changes attach partition ${name} for values from ('${from}') to ('${to}')`);
  }
  await client.query("update orgs set create_time = now() - interval '2 years' where name = 'acme'");
  await client.query(`
    create temporary table made as
    select orgs.customer_id, orgs.id as org_id, projects.id as project_id, types.id as type_id, gen_random_uuid() as id, n,
      now() - interval '${days} days' + n * interval '${days} days' / ${resources} as created,
      jsonb_build_object('cores', 1 + n % 8 / 2.0, 'ram', (1 + n % 4) * 1073741824::bigint) as given
    from generate_series(1, ${resources} - 1) as n
    join orgs on orgs.name = 'acme'
    join (select *, row_number() over (order by name) - 1 as at from projects) as projects
      on projects.org_id = orgs.id and projects.at = n % ${projects}
    join (select id, row_number() over (order by name) - 1 as at from resource_types) as types on types.at = n / 7 % 2`);
  const row =
    "jsonb_build_object('project_id', project_id, 'type_id', type_id, 'given_quantities', given, 'state', 'ACTIVE', 'name', 'r' || n)";
  const entry = (time: string, id: string, before: string, after: string) => `
    insert into changes (customer_id, org_id, revision, position, time, format, method, resource_type, resource_id, resource_path, before, after)
    select customer_id, org_id, (lpad(to_hex(${id}), 16, '0') || '80000000' || lpad(to_hex(n), 8, '0'))::uuid, 0, ${time}, 4,
      'resources.v1alpha.ResourcesService/CreateResource', 'Resource', id, '/orgs/acme/projects/p/resources/r' || n, ${before}, ${after}
    from made`;
  await client.query(entry("created", "n", "null", row));
  const isGone = "n % 2 = 0 and created < now() - interval '30 days'";
  await client.query(
    `${entry("created + interval '30 days'", `${resources} + n`, row, "null::jsonb")} where ${isGone}`,
  );
  await client.query(`
    insert into resources (customer_id, org_id, project_id, id, type_id, state, state_reason, parameters, quantities, given_quantities,
      qualities, given_qualities, outputs, name, display_name, description, labels, changed_revision, reference_ids)
    select customer_id, org_id, project_id, id, type_id, 'ACTIVE', '', '{}', given, given, '{}', '{}', '{}', 'r' || n, '', '', '{}', id, '[]'
    from made where not (${isGone})`);
  await client.query("drop table made");
  await client.query("analyze");
  console.log(`${resources} resources are there after ${Math.round((performance.now() - startedAt) / 1000)} s`);
}

/** Returns what is asked, by its name. */
function questions(): readonly (readonly [name: string, query: string])[] {
  const day = 86_400_000;
  const today = Math.floor(Date.now() / day) * day;
  const daysAgo = (count: number) => `from_time=${new Date(today - count * day).toISOString()}`;
  const year = daysAgo(364);
  return [
    ["the last day", "step=3600s"],
    ["a year in one step", year],
    ["a year by days", `${year}&step=86400s`],
    ["a year by steps of 12 hours", `${year}&step=43200s`],
    ["a year by project and type, in months", `${year}&step=2592000s&group_by=PROJECT&group_by=RESOURCE_TYPE`],
    ["a month by hours", `${daysAgo(30)}&step=3600s`],
    [
      "until now, from the same time a year ago",
      `from_time=${new Date(Date.now() - 364 * day).toISOString()}&step=86400s`,
    ],
  ];
}

/** Asks until there is an answer, and then twice more. */
async function ask(name: string, query: string): Promise<void> {
  const took: string[] = [];
  for (let answered = 0; answered < 3;) {
    const startedAt = performance.now();
    const { series, error } = await call(`iam/v1alpha/orgs/acme/usage:query?${query}`);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(2);
    took.push(error === undefined ? `${seconds} s` : `${error.status} after ${seconds} s`);
    if (series !== undefined) answered++;
    if (took.length > 20) throw new Error(`${name}: ${took.join(", ")}`);
  }
  console.log(`${name}: ${took.join(", ")}`);
}

async function reportSize(): Promise<void> {
  const { rows } = await client.query<{ summary: string; sums: string; bytes: string; log: string }>(`
    select divided_by || ' in pieces of ' || piece / 3600000000 || ' h' as summary, count(sums) as sums,
      pg_size_pretty(count(sums) * pg_total_relation_size('usage_sums') / (select count(*) from usage_sums)) as bytes
    from usage_summaries join usage_sums as sums on summary_id = usage_summaries.id
    where usage_summaries.org_id = sums.org_id group by divided_by, piece order by 1`);
  for (const { summary, sums, bytes } of rows) console.log(`by ${summary || "kind"}: ${sums} sums, ${bytes}`);
  const [size] = (
    await client.query<{ log: string }>(
      "select pg_size_pretty(sum(pg_total_relation_size(inhrelid))) as log from pg_inherits where inhparent = 'changes'::regclass",
    )
  ).rows;
  console.log(`the log: ${size?.log}`);
}
