// Benchmarks a log of many entries: pages of it, the start of a server with it and without, and the removal of old months while somebody
// writes. Run with `npm run bench:log` or `npm run bench:log -- --entries 1000000 --rounds 5`. The entries are of one org, over the last
// twelve months. A million takes some 700 MB on the disk.
import { parseArgs } from "node:util";
import pg from "pg";
import { openDatabase } from "../src/database/database.ts";
import { dropPartitions } from "../src/database/partitions.ts";
import { median } from "./figures.ts";
import { startPostgres, startService } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    entries: { type: "string", default: "10000000" },
    rounds: { type: "string", default: "20" },
    /** Of a server with the log, and as many of one without. */
    starts: { type: "string", default: "3" },
  },
});
const entries = Number(values.entries);
const rounds = Number(values.rounds);
const months = 12;

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.databaseUrl });

interface Place {
  readonly databaseUrl: string;
  readonly directory: string;
}

async function start({ databaseUrl, directory }: Place = postgres) {
  const service = await startService(databaseUrl, directory);
  const headers = { authorization: `Bearer ${await service.readOperatorKey()}`, "content-type": "application/json" };
  const call = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const url = `${service.url}/iam/v1alpha/${path}`;
    const method = body === undefined ? "GET" : "POST";
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer as Record<string, unknown>;
  };
  return { ...service, call };
}

let service = await start();
try {
  await client.connect();
  await service.call("orgs", { name: "acme" });
  const members = [];
  for (const name of ["often", "rarely"]) members.push(await service.call("orgs/acme/members", { name }));
  await service.stop();
  await addEntries(members.map(({ id }) => String(id)));
  await compareStarts();
  service = await start();
  await readPages();
  await dropMonths();
} finally {
  await service.stop();
  await client.end();
  await postgres.stop();
}

/** Adds the entries, in tables that become partitions when they are full, which builds their indexes. */
async function addEntries([often = "", rarely = ""]: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  await client.query("set maintenance_work_mem = '512MB'");
  const ofMonth = Math.floor(entries / months);
  for (let back = months; back >= 1; back--) {
    const { rows } = await client.query<{ name: string; from: string; to: string }>(
      `select 'changes_' || to_char(month, 'YYYY_MM') as name, month || '+00' as from, month + interval '1 month' || '+00' as to
      from (select date_trunc('month', now() at time zone 'UTC') - $1::int * interval '1 month' as month) as months`,
      [back],
    );
    const [{ name, from, to } = { name: "", from: "", to: "" }] = rows;
    await client.query(`create table ${name} (like changes including defaults including constraints)`);
    await client.query(
      `insert into ${name} (customer_id, org_id, revision, position, time, format, method, actor_org_id, actor_id, resource_type,
        resource_id, container_id, resource_path, request_id, after)
      select orgs.customer_id, orgs.id, (lpad(to_hex($1::int * 100000000 + n), 16, '0') || '80000000' || lpad(to_hex(n), 8, '0'))::uuid,
        0, $2::timestamptz + n * ($3::timestamptz - $2::timestamptz) / $4::int, 4, 'iam.v1alpha.MembersService/UpdateMember', orgs.id,
        case when n % 100000 = 7 then $6::uuid else $5::uuid end, 'Member',
        case when n % 100000 = 9 then $6::uuid when n % 2 = 0 then $5::uuid else gen_random_uuid() end, null,
        '/orgs/acme/members/m' || n % 1000, gen_random_uuid(), '{"name": "member", "state": "ACTIVE", "labels": {"team": "storage"}}'
      from orgs, generate_series(1, $4::int - 1) as n where orgs.name = 'acme'`,
      [months - back, from, to, ofMonth, often, rarely],
    );
    await client.query(`alter table changes attach partition ${name} for values from ('${from}') to ('${to}')`);
    await client.query(`vacuum analyze ${name}`);
  }
  await client.query("analyze changes");
  const { rows } = await client.query(
    "select pg_size_pretty(sum(pg_total_relation_size(inhrelid))) as size from pg_inherits",
  );
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(`${entries} entries were added in ${seconds} s, and take ${String(rows[0]?.size)}`);
}

/** Starts a service with the log and one on a database of its own in turns, and says when they were ready. */
async function compareStarts(): Promise<void> {
  const empty = await postgres.createDatabase("empty");
  await (await start(empty)).stop();
  const places = { "with the log": postgres, "without entries": empty };
  const times = new Map(Object.keys(places).map((name) => [name, [] as number[]]));
  for (let round = 0; round < Number(values.starts); round++) {
    for (const [name, place] of Object.entries(places)) {
      const startedAt = performance.now();
      const started = await start(place);
      const { status } = await fetch(`${started.url}/readyz`);
      times.get(name)?.push(performance.now() - startedAt);
      await started.stop();
      if (status !== 200) throw new Error(`/readyz answered ${status}`);
    }
  }
  for (const [name, taken] of times) {
    console.log(`ms from serve to /readyz, ${name}: ${taken.map((ms) => ms.toFixed(0)).join(", ")}`);
  }
}

async function readPages(): Promise<void> {
  const middle = new Date(Date.now() - 200 * 86_400_000).toISOString();
  const path = (name: string) => `"/orgs/acme/members/${name}"`;
  const filters = {
    all: "",
    "before a time in the middle": `time < ${middle}`,
    "an actor of most": `actor_path = ${path("often")}`,
    "an actor of few": `actor_path = ${path("rarely")}`,
    "a resource of half, and what is in it": `resource_path:${path("often")}`,
    "a resource of few": `resource_path = ${path("rarely")}`,
  };
  console.log("ms for a page of 50, the median and the longest:");
  for (const parent of ["orgs/acme/changes", "customers/acme/changes"]) {
    for (const [name, filter] of Object.entries(filters)) {
      for (const order of ["time desc", "time"]) {
        const query = new URLSearchParams({ filter, order_by: order, page_size: "50" });
        const times: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const startedAt = performance.now();
          await service.call(`${parent}?${query.toString()}`);
          times.push(performance.now() - startedAt);
        }
        const [usual, longest] = [median(times), Math.max(...times)].map((ms) => ms.toFixed(1).padStart(8));
        console.log(`${`${parent}, ${name}, ${order}`.padEnd(80)}${usual}${longest}`);
      }
    }
  }
}

/** Removes months as a server does while somebody writes, and says how long the writes took. */
async function dropMonths(): Promise<void> {
  const database = openDatabase({
    connection: { connectionString: postgres.databaseUrl },
    maxReadConnections: 2,
    maxWriteConnections: 2,
    onConnectionError: () => {},
  });
  const times: number[] = [];
  const ending = new AbortController();
  const write = async (): Promise<void> => {
    for (let count = 0; !ending.signal.aborted; count++) {
      const startedAt = performance.now();
      await service.call("orgs/acme/groups", { name: `group-${count}` });
      times.push(performance.now() - startedAt);
    }
  };
  const writing = write();
  const startedAt = performance.now();
  const dropped = await dropPartitions(database, 190);
  const ms = Math.round(performance.now() - startedAt);
  ending.abort();
  await writing;
  await database.close();
  const [usual, longest] = [median(times), Math.max(...times)].map((each) => each.toFixed(1));
  console.log(
    `${dropped.length} months were removed in ${ms} ms; of ${times.length} writes meanwhile, the median took ${usual} ms and the longest ${longest} ms`,
  );
}
