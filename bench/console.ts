// Benchmarks what the lists of the console ask for: of an installation with 40,000 orgs as with ten, and of an org with 700,000 role bindings
// as with ten. Run with `npm run bench:console` or `npm run bench:console -- --orgs 4000 --members 10000`. Takes some five minutes,
// mostly for creating the orgs. Calls are sequential, over REST; figures are medians in milliseconds.
import { parseArgs } from "node:util";
import pMap from "p-map";
import pg from "pg";
import { median } from "./figures.ts";
import { rebuild } from "./rebuild.ts";
import { startPostgres, startService } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    orgs: { type: "string", default: "40000" },
    members: { type: "string", default: "100000" },
    calls: { type: "string", default: "30" },
  },
});
const orgCount = Number(values.orgs);
const memberCount = Number(values.members);
const calls = Number(values.calls);
const few = 10;
/** Of each member. */
const roles = ["viewer", "editor", "admin", "access-admin", "owner", "members-admin", "groups-admin"];

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.databaseUrl });
const service = await startService(postgres.databaseUrl, postgres.directory);
const headers = { authorization: `Bearer ${await service.readOperatorKey()}`, "content-type": "application/json" };

async function call(path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
  const method = body === undefined ? "GET" : "POST";
  const response = await fetch(`${service.url}/iam/v1alpha/${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer as Readonly<Record<string, unknown>>;
}

/** Creates orgs with numbers from the first to before the last. */
async function createOrgs(first: number, last: number): Promise<void> {
  const numbers = Array.from({ length: last - first }, (_, index) => first + index);
  const create = (number: number) => call("orgs", { name: `org-${number}`, display_name: `Company ${number}` });
  await pMap(numbers, create, { concurrency: 16 });
}

/** Fills an org with members, each of which has all of the roles. */
async function fillOrg(name: string, members: number): Promise<void> {
  const id = (kind: string, number: string) =>
    `(lpad(to_hex(1700000000000 + ${number}), 12, '0') || '7000a' || substr(md5('${kind}' || ${number} || id), 1, 15))::uuid`;
  await client.query(
    `insert into members (customer_id, org_id, id, type, state, name, display_name, description, labels, changed_revision)
    select customer_id, id, ${id("member", "n")}, 'USER', 'ACTIVE', 'member-' || n, 'Person ' || n, '', '{}', gen_random_uuid()
    from orgs, generate_series(1, $2::int) as n where name = $1`,
    [name, members],
  );
  await client.query(
    `insert into role_bindings (org_customer_id, org_id, id, scope_type, member_id, predefined_role, condition, name, display_name,
      description, labels, changed_revision)
    select customer_id, id, ${id("binding", "n")}, 'ORG', ${id("member", `(1 + n % ${members})`)},
      ($3::text[])[1 + n / ${members}], '', 'binding-' || n, 'Grant ' || n, '', '{}', gen_random_uuid()
    from orgs, generate_series(0, $2::int - 1) as n where name = $1`,
    [name, members * roles.length, roles],
  );
}

type Times = Map<string, number>;

/** Measures calls by the title of what they are for. */
async function measure(paths: Readonly<Record<string, string>>): Promise<Times> {
  const times: Times = new Map();
  for (const [title, path] of Object.entries(paths)) {
    const taken: number[] = [];
    for (let round = -3; round < calls; round++) {
      const startedAt = performance.now();
      await call(path);
      if (round >= 0) taken.push(performance.now() - startedAt);
    }
    times.set(title, median(taken));
  }
  return times;
}

/** Returns the token of a page after some. */
async function tokenAfter(list: string, pages: number): Promise<string> {
  let token = "";
  for (let page = 0; page < pages; page++) {
    const { next_page_token: next } = await call(`${list}&page_token=${encodeURIComponent(token)}`);
    if (typeof next !== "string" || next === "") break;
    token = next;
  }
  return encodeURIComponent(token);
}

const withFilter = (text: string): string => `&filter=${encodeURIComponent(text)}`;

async function measureOrgs(): Promise<Times> {
  const list = "orgs?page_size=100";
  return measure({
    "orgs: first page": list,
    "orgs: a page after others": `${list}&page_token=${await tokenAfter(list, 50)}`,
    "orgs: by name": `${list}&order_by=name`,
    "orgs: latest first": `${list}&order_by=create_time%20desc`,
    "orgs: a word of one": `${list}${withFilter('"org-7"')}`,
    "orgs: words of all": `${list}${withFilter('"company"')}`,
    "find anything: a name": "orgs/-:search?query=org-7",
  });
}

async function measureBindings(org: string): Promise<Times> {
  const list = `orgs/${org}/roleBindings?page_size=100`;
  return measure({
    "bindings: first page": list,
    "bindings: a page after others": `${list}&page_token=${await tokenAfter(list, 50)}`,
    "bindings: of a member": `${list}${withFilter(`subject_path = "/orgs/${org}/members/member-7"`)}`,
    "bindings: of a role": `${list}${withFilter('role_path = "/roles/viewer"')}`,
    "bindings: words of all": `${list}${withFilter('"grant"')}`,
    "bindings: a word of few": `${list}${withFilter('"binding-7"')}`,
    "members: first page": `orgs/${org}/members?page_size=100`,
    "members: a word of few": `orgs/${org}/members?page_size=100${withFilter('"member-7"')}`,
    "find in the org: a name": `orgs/${org}:search?query=Person%207`,
  });
}

function print(title: string, small: Times, large: Times): void {
  console.log(`\n${title.padEnd(34)}${"few".padStart(9)}${"many".padStart(9)}${"ratio".padStart(8)}`);
  for (const [name, time] of large) {
    const least = small.get(name) ?? NaN;
    const cells = [least.toFixed(1).padStart(9), time.toFixed(1).padStart(9), (time / least).toFixed(2).padStart(8)];
    console.log(`${name.padEnd(34)}${cells.join("")}`);
  }
}

try {
  await client.connect();
  await createOrgs(0, few);
  // The first ones compile the service.
  await measureOrgs();
  const orgsOfFew = await measureOrgs();
  const startedAt = performance.now();
  await createOrgs(few, orgCount);
  console.log(`${orgCount} orgs created in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  await fillOrg("org-0", few);
  await fillOrg("org-1", memberCount);
  await rebuild(postgres.databaseUrl);
  await client.query("vacuum analyze");
  print(`ms, of ${few} and of ${orgCount} orgs`, orgsOfFew, await measureOrgs());
  await measureBindings("org-0");
  const [ofFew, ofMany] = [await measureBindings("org-0"), await measureBindings("org-1")];
  print(`ms, of ${few * roles.length} and of ${memberCount * roles.length} bindings`, ofFew, ofMany);
} finally {
  await service.stop();
  await client.end();
  await postgres.stop();
}
