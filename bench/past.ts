// Benchmarks questions about the past of an org: access checks, Get and List as of moments of a year in which much has changed. Run with
// `npm run bench:past` or, in some seconds, `npm run bench:past -- --changes 50000 --members 2000`. A million changes take some 2 GB on the
// disk, and some minutes to be there.
import { parseArgs } from "node:util";
import pg from "pg";
import { required } from "../src/errors/required.ts";
import { median } from "./figures.ts";
import { processorTime } from "./processor-time.ts";
import { startPostgres, startService } from "./start-bench.ts";

const { values } = parseArgs({
  options: { changes: { type: "string", default: "1000000" }, members: { type: "string", default: "20000" } },
});
const changes = Number(values.changes);
const members = Number(values.members);
/** The number of revisions before the changes, in which members, groups and what refers to them were created. */
const firstChange = 4 * members + 1_000;
/** How many changes after its creation a role binding is deleted. */
const grantedFor = Math.floor(changes / 100 / 10) * 10;

/** The columns that have the same values in all rows. */
const named = "'{}'::jsonb as labels, gen_random_uuid() as changed_revision, now() - interval '2 years' as create_time";

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.databaseUrl });
let service = await startService(postgres.databaseUrl, postgres.directory);
const headers = { authorization: `Bearer ${await service.readOperatorKey()}`, "content-type": "application/json" };

/** Calls a method by its path; a POST if there is a body. Returns the answer, also an error. */
async function call(path: string, body?: object): Promise<Record<string, unknown>> {
  const request = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${service.url}/iam/v1alpha/${path}`, request);
  return (await response.json()) as Record<string, unknown>;
}

try {
  await client.connect();
  for (const name of ["acme", "other"]) {
    await call("orgs", { name });
    await call(`orgs/${name}/members`, { name: "asked" });
  }
  await service.stop();
  const startedAt = performance.now();
  await fillLog();
  console.log(`${changes} changes are there after ${seconds(startedAt)}`);
  service = await startService(postgres.databaseUrl, postgres.directory);
  await reportSize();
  await keepStates();
  for (const part of [0.01, 0.4, 0.9, 0.999]) await askAsOf(part);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await service.stop();
  await client.end();
  await postgres.stop();
}

/** Returns the processor time of the service and of PostgreSQL, in seconds. */
function processorUse(): number {
  return (processorTime(service.pid) + processorTime(postgres.pid)) / 1e6;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(2)} s`;
}

/** Fills the log of a year, and what is there now. */
async function fillLog(): Promise<void> {
  await createPartitions();
  await createMembers();
  await createBindings();
  await addEntries();
  await client.query(`
    update orgs set create_time = now() - interval '2 years', (revision, revision_time) =
      (select revision, time from changes where org_id = orgs.id order by revision desc limit 1) where name = 'acme'`);
  await client.query(`
    insert into resource_counts (customer_id, org_id, parent_id, resource_type, count)
    select customer_id, org_id, org_id, 'RoleBinding', (select count(*) from role_bindings) + 2 * ${members} from one
    on conflict do nothing`);
  await client.query("vacuum analyze");
}

async function createPartitions(): Promise<void> {
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
}

/** Creates members and groups, and keeps them in the tables `made`, `teams` and `joined`; the org is in `one`. */
async function createMembers(): Promise<void> {
  await client.query(`
    create temporary table one as select id as org_id, customer_id from orgs where name = 'acme';
    create temporary table made as
      select org_id, customer_id, gen_random_uuid() as id, 'USER' as type, 'ACTIVE' as state, 'm' || n as name, 'Member ' || n as display_name,
        '' as description, ${named}, n from one, generate_series(0, ${members - 1}) as n;
    create unique index on made (n);
    insert into members (org_id, customer_id, id, type, state, name, display_name, description, labels, changed_revision, create_time)
      select org_id, customer_id, id, type, state, name, display_name, description, labels, changed_revision, create_time from made;
    create temporary table teams as
      select org_id, customer_id, gen_random_uuid() as id, 'g' || n as name, '' as display_name, '' as description, ${named}, n
      from one, generate_series(0, 199) as n;
    insert into groups (org_id, customer_id, id, name, display_name, description, labels, changed_revision, create_time)
      select org_id, customer_id, id, name, display_name, description, labels, changed_revision, create_time from teams;
    create temporary table joined as
      select made.org_id, made.customer_id, teams.id as group_id, made.id as member_id, made.id, made.name, made.changed_revision,
        made.create_time, made.n
      from made join teams on teams.n = made.n % 200;
    insert into group_members (org_id, customer_id, group_id, member_id, changed_revision, create_time)
      select org_id, customer_id, group_id, member_id, changed_revision, create_time from joined`);
}

/** Creates those role bindings that are still there. The table `granted` has all. */
async function createBindings(): Promise<void> {
  const granted = `
    org_id, 'ORG' as scope_type, member_id, 'viewer' as predefined_role, '' as condition, '' as display_name, '' as description, ${named}`;
  await client.query(`
    create temporary table granted as
      select ${granted}, customer_id as org_customer_id, id, 'b' || n as name, n from (
        select org_id, customer_id, id as member_id, gen_random_uuid() as id, n from made
        union all
        select org_id, customer_id, id, gen_random_uuid(), ${members} + at from generate_series(0, ${changes} - 1) as at
        join made on made.n = at % ${members} where at % 10 between 4 and 6
      ) as bindings;
    create unique index on granted (n);
    analyze granted; analyze made;
    insert into role_bindings (org_id, org_customer_id, id, scope_type, member_id, predefined_role, condition, name, display_name,
        description, labels, changed_revision, create_time)
      select org_id, org_customer_id, id, scope_type, member_id, predefined_role, condition, name, display_name, description, labels,
        changed_revision, create_time
      from granted where n < ${members} or n >= ${members} + ${changes} - ${grantedFor}`);
}

/** Adds the creation of all, and the changes: members are updated, and role bindings created and deleted. */
async function addEntries(): Promise<void> {
  const entry = (type: string, of: string, before: string, after: string, from: string) => `
    insert into changes (customer_id, org_id, revision, position, time, format, method, resource_type, resource_id, container_id,
      resource_path, before, after)
    select one.customer_id, one.org_id, (lpad(to_hex(${firstChange} + at), 16, '0') || '80000000' || lpad(to_hex(at), 8, '0'))::uuid, 0,
      now() - interval '1 minute' - interval '365 days' * least(1 - at / ${changes}.0, 1.001), 4, 'iam.v1alpha.Service/Method', '${type}', ${of}.id,
      ${of}.id, '/orgs/acme/of/' || ${of}.name, ${before}, ${after}
    from one, ${from}`;
  const member = (shown: string) =>
    `to_jsonb(made) - 'n' - 'at' - 'customer_id' || jsonb_build_object('display_name', case at < ${members * 3} when true then 'First' else ${shown} end)`;
  const binding = "to_jsonb(granted) - 'n' - 'at' - 'org_customer_id'";
  await client.query("update changes set time = now() - interval '366 days' where org_id = (select org_id from one)");
  const first = (table: string, place: number) =>
    `(select *, n - ${firstChange} + ${place} as at from ${table} where n < ${members}) as ${table}`;
  await client.query(entry("Member", "made", "null::jsonb", member("''"), first("made", 100)));
  await client.query(
    entry(
      "Group",
      "teams",
      "null::jsonb",
      "to_jsonb(teams) - 'n' - 'at' - 'customer_id'",
      first("teams", members + 100),
    ),
  );
  await client.query(
    entry(
      "GroupMember",
      "joined",
      "null::jsonb",
      "to_jsonb(joined) - 'n' - 'at' - 'id' - 'name' - 'customer_id'",
      first("joined", members + 400),
    ),
  );
  await client.query(entry("RoleBinding", "granted", "null::jsonb", binding, first("granted", 2 * members + 500)));
  const all = `generate_series(0, ${changes} - 1) as at`;
  const updates = `${all} join made on made.n = at / 10 * 4 % ${members} + at % 10 where at % 10 < 4`;
  await client.query(entry("Member", "made", member("'Before ' || at"), member("'After ' || at"), updates));
  const created = `${all} join granted on granted.n = ${members} + at where at % 10 between 4 and 6`;
  await client.query(entry("RoleBinding", "granted", "null::jsonb", binding, created));
  const deleted = `${all} join granted on granted.n = ${members} + at - 3 - ${grantedFor} where at % 10 > 6`;
  await client.query(entry("RoleBinding", "granted", binding, "null::jsonb", deleted));
}

/** Asks about the past once, which has the service keep states, and waits for these. */
async function keepStates(): Promise<void> {
  const startedAt = performance.now();
  const asked = await call(`orgs/acme/members/m17?as_of_revision=${await revisionAt(0.5)}`);
  const failed = asked["error"] === undefined ? "" : `: ${JSON.stringify(asked["error"]).slice(0, 150)}`;
  console.log(`without states, a member as of 0.5 takes ${seconds(startedAt)}${failed}`);
  const since = performance.now();
  let found = { states: "0", size: "" };
  for (let changedAt = since; performance.now() < changedAt + 20_000;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { rows } = await client.query<typeof found>(
      "select count(*) filter (where resource_type = 'Org') as states, pg_size_pretty(pg_total_relation_size('past_states')) as size from past_states",
    );
    const row = required(rows[0]);
    if (row.states !== found.states) changedAt = performance.now();
    found = row;
  }
  console.log(`${found.states} states take ${found.size}, and were there after ${seconds(since + 20_000)}`);
}

async function revisionAt(part: number): Promise<string> {
  const { rows } = await client.query<{ revision: string }>(
    `select revision from changes where org_id = (select id from orgs where name = 'acme')
      and revision > (lpad(to_hex($1::int), 16, '0') || repeat('f', 16))::uuid order by revision limit 1`,
    [firstChange + Math.floor(part * changes)],
  );
  return required(rows[0]).revision;
}

/** Asks as of a part of the year, for the first time and again, while another org asks about now. */
async function askAsOf(part: number): Promise<void> {
  const check = (name: string) => ({
    subject_path: `/orgs/${name}/members/asked`,
    permission: "iam.members.get",
    resource_path: `/orgs/${name}`,
  });
  const asOf = { as_of_revision: await revisionAt(part) };
  const list = (collection: string) => {
    const query = new URLSearchParams({ ...asOf, page_size: "100" });
    return call(`orgs/acme/${collection}?${query.toString()}`);
  };
  const questions: readonly (readonly [name: string, ask: () => Promise<Record<string, unknown>>])[] = [
    ["a check, for the first time", () => call("access:check", { ...check("acme"), ...asOf })],
    ["a check again", () => call("access:check", { ...check("acme"), ...asOf })],
    ["a member", () => call(`orgs/acme/members/m17?as_of_revision=${asOf.as_of_revision}`)],
    ["members", () => list("members")],
    ["members of a group", () => list("groups/g17/members")],
    ["role bindings", () => list("roleBindings")],
  ];
  for (const [name, ask] of questions) {
    const done = new AbortController();
    const others = askOther(check("other"), done.signal);
    const [startedAt, usedAt] = [performance.now(), processorUse()];
    const { error } = await ask();
    const took = `${seconds(startedAt)} (${(processorUse() - usedAt).toFixed(2)} s of processors, the others' checks included)`;
    done.abort();
    const times = await others;
    const [usual, longest] = [median(times), Math.max(...times)].map((ms) => ms.toFixed(0));
    const failed = error === undefined ? "" : JSON.stringify(error).slice(0, 150);
    console.log(
      `as of ${part}, ${name}: ${took}; another org's check took ${usual} ms at the median, ${longest} at most ${failed}`,
    );
  }
}

/** Asks for another org until it is ended, and returns how long each question took, in milliseconds. */
async function askOther(question: object, signal: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  do {
    const startedAt = performance.now();
    await call("access:check", question);
    times.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 10));
  } while (!signal.aborted);
  return times;
}

async function reportSize(): Promise<void> {
  const { rows } = await client.query<{ log: string }>(
    "select pg_size_pretty(sum(pg_total_relation_size(inhrelid))) as log from pg_inherits where inhparent = 'changes'::regclass",
  );
  console.log(`the log takes ${rows[0]?.log}`);
}
