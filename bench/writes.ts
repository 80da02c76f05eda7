// Benchmarks writes: POST of a member and of a resource, and PATCH of a group, in one org at 1, 8 and 64 connections, and over 64
// orgs at 64. Run with `npm run bench:writes` or `npm run bench:writes -- --rounds 7 --seconds 3 --only resource`. With
// `--against ../other`, another checkout of the service takes turns with this one, in a database of its own. The time on the
// processor for a write, which other load on the machine affects little, is known on Linux only.
//
// Each service runs in its own process on the first core; the load and PostgreSQL run on the second. Each round runs all cases in
// turn, so that other load on the machine affects all of them. Figures are medians of the rounds. Each org has a caller of its own.
// Statements are counted afterwards, in a server in this process.
import { parseArgs } from "node:util";
import { countStatements } from "./count-statements.ts";
import { type StartedCheckout, printSamples, startCheckouts, takeTurns } from "./compare-checkouts.ts";
import { quantile } from "./figures.ts";
import { type HttpRequest, loadHttp } from "./load-http.ts";
import { pinToCore } from "./pin-to-core.ts";
import { processorTime } from "./processor-time.ts";
import { startPostgres } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "1" },
    against: { type: "string" },
    /** Runs the cases whose name contains it. */
    only: { type: "string", default: "" },
    /** Prints the statements of single writes. */
    statements: { type: "boolean", default: false },
  },
});
const milliseconds = Number(values.seconds) * 1000;
const rounds = Number(values.rounds);
const orgCount = 64;

interface Target {
  readonly name: string;
  readonly url: string;
  readonly databaseUrl: string;
  readonly directory: string;
  readonly pid: number;
  /** The API keys of the callers, by the index of their org. */
  readonly keys: readonly string[];
}

interface Case {
  readonly name: string;
  readonly connections: number;
  /** Each connection writes in an org of its own; if not, all in the first. */
  readonly inManyOrgs: boolean;
  readonly request: (key: string, org: string, index: number) => HttpRequest;
}

const json = (key: string) => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });

const postMember: Case["request"] = (key, org, index) => ({
  method: "POST",
  path: `/iam/v1alpha/orgs/${org}/members`,
  headers: json(key),
  body: JSON.stringify({ name: `member-${index}`, type: "USER", labels: { team: "storage" } }),
});

const patchGroup: Case["request"] = (key, org, index) => ({
  method: "PATCH",
  path: `/iam/v1alpha/orgs/${org}/groups/group-${index % 8}`,
  headers: json(key),
  body: JSON.stringify({ display_name: `Group ${index}` }),
});

const postResource: Case["request"] = (key, org, index) => ({
  method: "POST",
  path: `/resources/v1alpha/orgs/${org}/projects/web/resources`,
  headers: json(key),
  body: JSON.stringify({
    name: `resource-${index}`,
    type_path: "/services/compute/resourceTypes/instances",
    quantities: { cpu_cores: 2 },
  }),
});

const verbs = { "POST a member": postMember, "POST a resource": postResource, "PATCH a group": patchGroup };
const cases = Object.entries(verbs)
  .flatMap(([verb, request]): Case[] => [
    ...[1, 8, 64].map((connections) => ({
      name: `${verb}, one org, ${connections}`,
      connections,
      inManyOrgs: false,
      request,
    })),
    { name: `${verb}, ${orgCount} orgs, ${orgCount}`, connections: orgCount, inManyOrgs: true, request },
  ])
  .filter(({ name }) => name.includes(values.only));

let written = 0;

/** Returns the requests of a case, each different. */
function requestsOf({ inManyOrgs, request }: Case, { keys }: Target): () => HttpRequest {
  return () => {
    const index = written++;
    const org = inManyOrgs ? index % orgCount : 0;
    return request(keys[org] ?? "", `org-${org}`, index);
  };
}

/** Calls a method by its path, for example `iam/v1alpha/orgs`. */
async function post(url: string, key: string, path: string, body: object): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(`${url}/${path}`, {
    method: "POST",
    headers: json(key),
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, string>;
}

/** Creates a type of resources. */
async function createCatalog(url: string, key: string): Promise<void> {
  await post(url, key, "resources/v1alpha/services", { name: "compute" });
  await post(url, key, "resources/v1alpha/quantityKinds", { name: "cpu_cores", unit: "core" });
  const quantities = [{ kind: "cpu_cores", required: true, minimum: 1, maximum: 64, counted: true }];
  await post(url, key, "resources/v1alpha/services/compute/resourceTypes", {
    name: "instances",
    collection: "instances",
    operations: [{ verb: "create", quantities }, { verb: "delete" }],
  });
}

/** Creates an org with groups, a project and an owner, and returns the owner's API key. */
async function createOrg(url: string, operatorKey: string, name: string): Promise<string> {
  const create = (path: string, body: object) => post(url, operatorKey, `iam/v1alpha/${path}`, body);
  await create("orgs", { name });
  await create(`orgs/${name}/projects`, { name: "web" });
  const { path = "" } = await create(`orgs/${name}/members`, { name: "caller", type: "APPLICATION" });
  await create(`orgs/${name}/roleBindings`, {
    name: "caller",
    role_path: "/roles/owner",
    subject_path: path,
  });
  for (let index = 0; index < 8; index++) await create(`orgs/${name}/groups`, { name: `group-${index}` });
  const { secret = "" } = await create(`${path.slice(1)}/apiKeys`, { name: "bench" });
  return secret;
}

interface Sample {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** The time on the processor for a write, in microseconds: of the service, and of PostgreSQL. */
  readonly service: number;
  readonly postgres: number;
}

async function sample(of: Case, target: Target): Promise<Sample> {
  const taken: number[] = [];
  const times = () => [processorTime(target.pid), processorTime(postgres.pid)] as const;
  const before = times();
  const rate = await loadHttp(target.url, requestsOf(of, target), of.connections, milliseconds, (ms) => taken.push(ms));
  const [service, ofPostgres] = times().map((time, index) => (time - (before[index] ?? 0)) / taken.length);
  const [p50, p99] = [quantile(taken, 0.5), quantile(taken, 0.99)];
  return { rate, p50, p99, service: service ?? 0, postgres: ofPostgres ?? 0 };
}

const columns = [
  { title: "writes/s", key: "rate", digits: 0 },
  { title: "p50 ms", key: "p50", digits: 1 },
  { title: "p99 ms", key: "p99", digits: 1 },
  { title: "service µs", key: "service", digits: 0 },
  { title: "PG µs", key: "postgres", digits: 0 },
] as const;

async function prepare({ url, operatorKey, ...started }: StartedCheckout): Promise<Target> {
  await createCatalog(url, operatorKey);
  const keys: string[] = [];
  for (let org = 0; org < orgCount; org++) keys.push(await createOrg(url, operatorKey, `org-${org}`));
  return { ...started, url, keys };
}

pinToCore(process.pid, 1);
const postgres = await startPostgres();
const env = { TENANTRY_MAX_MEMBERS_PER_ORG: "1000000", TENANTRY_MAX_RESOURCES_PER_PROJECT: "1000000" };
let stop = (): Promise<void> => Promise.resolve();
try {
  const checkouts = await startCheckouts(postgres, values.against, env);
  ({ stop } = checkouts);
  const targets: Target[] = [];
  for (const started of checkouts.started) targets.push(await prepare(started));
  const samples = await takeTurns(cases, targets, rounds, sample);
  printSamples(samples, targets, columns, `${rounds} rounds of ${values.seconds} s`);
  await stop();

  const last = targets.at(-1);
  if (last === undefined) throw new Error("there is no service");
  console.log("\nstatements a write, with those of the gate; those of transactions that were shared count once");
  const counted = cases.map((of) => ({ name: of.name, connections: of.connections, request: requestsOf(of, last) }));
  await countStatements(last.databaseUrl, last.directory, counted, values.statements);
} finally {
  await stop();
  await postgres.stop();
}
