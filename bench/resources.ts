// Benchmarks infrastructure resources, compared with members in the same run: creations in one project and over 64 orgs, what
// providers end, and a page of 100 of a million resources. Run with `npm run bench:resources` or, in some seconds,
// `npm run bench:resources -- --rounds 2 --seconds 0.5 --resources 10000`.
//
// Calls go over REST to a server in this process. The cases take turns, so that other load on the machine affects all of them.
// Figures are medians of the rounds.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import pino from "pino";
import { readConfig } from "../src/config.ts";
import { ratesOfBench } from "./rates-of-bench.ts";
import { startEmbeddedPostgres } from "../src/database/embedded/start-embedded-postgres.ts";
import { startServer } from "../src/server.ts";
import { type Figures, median, printTable } from "./figures.ts";
import { rebuild } from "./rebuild.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "1.5" },
    resources: { type: "string", default: "1000000" },
  },
});
const rounds = Number(values.rounds);
const milliseconds = Number(values.seconds) * 1000;
const resourceCount = Number(values.resources);

const orgCount = 64;
const service = "resources/v1alpha/services/compute";
/** Calls in flight. */
const callers = 8;

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
  await measure((path, body) => call(key, path, body));
} finally {
  await server.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}

interface Answer {
  readonly path: string;
  readonly claims?: readonly { readonly operation: { readonly path: string }; readonly claim_token: string }[];
}

type Call = (path: string, body?: object) => Promise<Answer>;

/** Calls a method by its path, for example `iam/v1alpha/orgs`; a POST if there is a body. */
async function call(key: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
  const init = body ? { method: "POST", body: JSON.stringify(body), headers } : { headers };
  const response = await fetch(`${server.url}/${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

async function measure(ask: Call): Promise<void> {
  await makeCatalog(ask);
  for (let org = 0; org < orgCount; org++) {
    await ask("iam/v1alpha/orgs", { name: `org-${org}` });
    await ask(`iam/v1alpha/orgs/org-${org}/projects`, { name: "web" });
  }
  await ask("iam/v1alpha/orgs", { name: "large" });
  await ask("iam/v1alpha/orgs/large/projects", { name: "web" });

  let names = 0;
  const createMember = (org: number) =>
    ask(`iam/v1alpha/orgs/org-${org}/members`, { name: `m-${names++}`, type: "USER" });
  const createResource = (org: string) =>
    ask(`resources/v1alpha/orgs/${org}/projects/web/resources`, {
      name: `r-${names++}`,
      type_path: "/services/compute/resourceTypes/instances",
      quantities: { cpu_cores: 2 },
    });
  /** @returns false if there is nothing left to claim. */
  const provide = async (): Promise<boolean> => {
    const { claims = [] } = await ask(`${service}/operations:claim`, {});
    for (const { operation, claim_token } of claims) {
      await ask(`${service}/operations:complete`, { operation_path: operation.path, claim_token });
    }
    return claims.length > 0;
  };

  for (let each = 0; each < 1000; each++) await createMember(0);
  await createResource("large");
  await provide();
  await copyResources();
  const listOf = (area: string, path: string) => () => ask(`${area}/v1alpha/orgs/${path}?page_size=100`);

  const cases: Record<string, (forMs: number) => Promise<number>> = {
    "create a member, one org": (ms) => repeat(callers, ms, () => createMember(0)),
    "create a resource, one project": (ms) => repeat(callers, ms, () => createResource("org-0")),
    "create a member, 64 orgs": (ms) => repeat(callers, ms, () => createMember(names % orgCount)),
    "create a resource, 64 orgs": (ms) => repeat(callers, ms, () => createResource(`org-${names % orgCount}`)),
    "claim and complete, 1 provider": (ms) => repeat(1, ms, provide),
    "claim and complete, 8 providers": (ms) => repeat(8, ms, provide),
    "list 100 of 1000 members": (ms) => repeat(1, ms, listOf("iam", "org-0/members")),
    [`list 100 of ${resourceCount} resources`]: (ms) =>
      repeat(1, ms, listOf("resources", "large/projects/web/resources")),
  };
  const samples = Object.entries(cases).map(([name, run]) => ({ name, run, spread: [] as number[] }));
  for (let round = -1; round < rounds; round++) {
    for (const { run, spread } of samples) {
      const rate = await run(milliseconds);
      if (round >= 0) spread.push(rate);
    }
  }
  const rateOf = (name: string): number => median(samples.find((each) => each.name === name)?.spread ?? []);
  const baselineOf = (name: string): string => {
    if (name.startsWith("list")) return "list 100 of 1000 members";
    return name.endsWith("64 orgs") ? "create a member, 64 orgs" : "create a member, one org";
  };
  const figures = samples.map(({ name, spread }): Figures => ({
    name,
    spread,
    rate: rateOf(name),
    ratio: rateOf(name) / rateOf(baselineOf(name)),
  }));
  printTable(`${callers} callers, ${rounds} rounds of ${values.seconds} s`, "calls/s", "of members", figures);
}

async function makeCatalog(ask: Call): Promise<void> {
  await ask("resources/v1alpha/services", { name: "compute" });
  await ask("resources/v1alpha/quantityKinds", { name: "cpu_cores", unit: "core" });
  const quantities = [{ kind: "cpu_cores", required: true, minimum: 1, maximum: 64, counted: true }];
  const operations = [{ verb: "create", quantities }, { verb: "delete" }];
  await ask(`${service}/resourceTypes`, { name: "instances", collection: "instances", operations });
}

/** Copies the only resource of the org `large` with SQL. Ids ascend like those of the service. */
async function copyResources(): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `insert into resources select (jsonb_populate_record(resources, jsonb_build_object(
        'id', (lpad(to_hex(1700000000000 + n), 12, '0') || '7000a' || substr(md5(n::text), 1, 15))::uuid, 'name', 'copy-' || n))).*
      from resources join orgs on orgs.id = resources.org_id, generate_series(2, $1::int) as n where orgs.name = 'large'`,
    [resourceCount],
  );
  await rebuild(databaseUrl);
  await client.query("vacuum analyze");
  await client.end();
}

/**
 * Repeats a call by several callers for some time, or until there is nothing left to do.
 *
 * @returns the calls per second.
 */
async function repeat(count: number, forMs: number, run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const repeatOne = async (): Promise<number> => {
    let done = 0;
    while (performance.now() < startedAt + forMs && (await run()) !== false) done++;
    return done;
  };
  const done = await Promise.all(Array.from({ length: count }, repeatOne));
  return done.reduce((sum, each) => sum + each, 0) / ((performance.now() - startedAt) / 1000);
}
