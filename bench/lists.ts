// Benchmarks a Get and pages of lists in an org with a million members, compared with an org with a thousand. Run with
// `npm run bench:lists` or `npm run bench:lists -- --members 100000 --calls 50`. Takes a few minutes, mostly for inserting the
// members with SQL.
//
// Calls are sequential, over REST, to a server in this process. The orgs take turns, so that other load on the machine affects
// both. Figures are medians.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { rebuild } from "./rebuild.ts";
import pino from "pino";
import { readConfig } from "../src/config.ts";
import { ratesOfBench } from "./rates-of-bench.ts";
import { startEmbeddedPostgres } from "../src/database/embedded/start-embedded-postgres.ts";
import { startServer } from "../src/server.ts";
import { median } from "./figures.ts";

const { values } = parseArgs({
  options: {
    members: { type: "string", default: "1000000" },
    calls: { type: "string", default: "200" },
  },
});

interface Org {
  readonly name: string;
  readonly members: number;
}

const orgs: readonly [Org, Org] = [
  { name: "small", members: 1000 },
  { name: "large", members: Number(values.members) },
];

/** The number of members with a rare label. */
const fewMembers = 10;

/** Ids ascend like those of the service. Every second member has a label `half`; each value of `few` is on ten members. */
const insertMembers = `
  insert into members (customer_id, org_id, id, type, state, name, display_name, description, labels, changed_revision, create_time)
  select customer_id, id, (lpad(to_hex(1700000000000 + n), 12, '0') || '7000a' || substr(md5(n::text || id), 1, 15))::uuid,
    'USER', 'ACTIVE', 'member-' || substr(md5(n::text), 1, 12), 'Member ' || n, '',
    jsonb_build_object('half', (n % 2)::text, 'few', (n % ($2::int / ${fewMembers}))::text), gen_random_uuid(), now() - ($2::int - n) * interval '1 second'
  from orgs, generate_series(1, $2::int) as n where name = $1 and delete_time is null`;

const directory = await mkdtemp(join(tmpdir(), "tenantry-bench-"));
const postgres = await startEmbeddedPostgres({ directory: join(directory, "postgres"), log: () => {} });
const { host, port, user, database } = postgres.connection;
const databaseUrl = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
const config = { ...readConfig(ratesOfBench), port: 0, databaseUrl, dataDirectory: directory, accessLog: false };
const server = await startServer(config, pino({ level: "silent" }), (error) => {
  throw error;
});
try {
  const key = (await readFile(join(directory, "operator-key"), "utf8")).trim();
  await makeOrgs(key);
  await measure((path) => call(key, path));
} finally {
  await server.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}

async function makeOrgs(key: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const { name, members } of orgs) {
    await call(key, "orgs", { name });
    const startedAt = performance.now();
    await client.query(insertMembers, [name, members]);
    console.log(`${members} members made in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  }
  await rebuild(databaseUrl);
  await client.query("vacuum analyze");
  await client.end();
}

interface Answer {
  readonly members?: readonly { readonly name: string }[];
  readonly next_page_token?: string;
}

async function call(key: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
  const init = body ? { method: "POST", body: JSON.stringify(body), headers } : { headers };
  const response = await fetch(`${server.url}/iam/v1alpha/${path}`, init);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

async function measure(get: (path: string) => Promise<Answer>): Promise<void> {
  const lists = await Promise.all(
    orgs.map(async ({ name }) => {
      const list = `orgs/${name}/members`;
      const first = await get(`${list}?page_size=1`);
      return { list, member: `${list}/${first.members?.[0]?.name}`, lastOf: await findLastPages(get, list) };
    }),
  );
  const few = "few = 7";
  const filter = (text: string): string => `&filter=${encodeURIComponent(`labels.${text}`)}`;
  type List = (typeof lists)[number];
  const cases: Record<string, (list: List) => string> = {
    Get: ({ member }) => member,
    ...Object.fromEntries(
      [50, 1000].flatMap((size) => [
        [`first page of ${size}`, ({ list }: List) => `${list}?page_size=${size}`],
        [`last page of ${size}`, ({ list, lastOf }: List) => `${list}?page_size=${size}&page_token=${lastOf[size]}`],
      ]),
    ),
    "50 by a label that half have": ({ list }) => `${list}?page_size=50${filter("half = 1")}`,
    "50 by a label that 10 have": ({ list }) => `${list}?page_size=50${filter(few)}`,
    "50 by both labels": ({ list }) => `${list}?page_size=50${filter(`half = 1 AND labels.${few}`)}`,
    "50 ordered by name": ({ list }) => `${list}?page_size=50&order_by=name`,
    "50 ordered by create_time desc": ({ list }) => `${list}?page_size=50&order_by=create_time%20desc`,
  };

  console.log(`\nmilliseconds, of ${orgs.map(({ members }) => members).join(" and of ")} members`);
  for (const [name, pathOf] of Object.entries(cases)) {
    const taken: number[][] = lists.map(() => []);
    for (let round = -10; round < Number(values.calls); round++) {
      for (const [index, list] of lists.entries()) {
        const startedAt = performance.now();
        await get(pathOf(list));
        if (round >= 0) taken[index]?.push(performance.now() - startedAt);
      }
    }
    const [small = 0, large = 0] = taken.map(median);
    const cells = [small.toFixed(2), large.toFixed(2), (large / small).toFixed(2)];
    console.log(`${name.padEnd(32)}${cells.map((cell) => cell.padStart(10)).join("")}`);
  }
}

/** Reads a list to its end. Returns the token of the last page for each page size; empty if that is the first page. */
async function findLastPages(
  get: (path: string) => Promise<Answer>,
  list: string,
): Promise<Readonly<Record<number, string>>> {
  const last: Record<number, string> = {};
  let token = "";
  for (const size of [1000, 50]) {
    for (;;) {
      const { next_page_token: next = "" } = await get(`${list}?page_size=${size}&page_token=${token}`);
      if (next === "") break;
      token = next;
    }
    last[size] = token;
  }
  return last;
}
