// Benchmarks the ends of operations in one org: completions by 1, 8 and 32 providers at once, with a `request_id` and without, and
// the forced deletion of a project until its last resource is gone. Run with `npm run bench:completions` or `npm run
// bench:completions -- --rounds 5 --count 1000 --only request_id`. With `--against ../other`, another checkout of the service takes
// turns with this one, in a database of its own.
//
// Each service runs in its own process on the first core; the load and PostgreSQL run on the second. Figures are medians of the
// rounds.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type StartedCheckout, printSamples, startCheckouts, takeTurns } from "./compare-checkouts.ts";
import { pinToCore } from "./pin-to-core.ts";
import { processorTime } from "./processor-time.ts";
import { startPostgres } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    /** How many operations of each case end in a round. */
    count: { type: "string", default: "300" },
    against: { type: "string" },
    /** Runs the cases whose name contains it. */
    only: { type: "string", default: "" },
  },
});
const rounds = Number(values.rounds);
const count = Number(values.count);
const perBatch = 100;
const providers = 8;

interface Sample {
  /** Ends of operations per second. */
  readonly rate: number;
  /** The time of the service on the processor for each, in microseconds. */
  readonly service: number;
}

interface Case {
  readonly name: string;
  readonly run: (target: StartedCheckout) => Promise<Sample>;
}

const service = "/resources/v1alpha/services/compute";
const typePath = "/services/compute/resourceTypes/instances";
let serial = 0;

const cases: Case[] = [
  ...[1, 8, 32].map((atOnce) => ({
    name: `complete, ${atOnce} at once`,
    run: (target: StartedCheckout) => completeCreations(target, atOnce, () => ({})),
  })),
  {
    name: "complete with a request_id, 32 at once",
    run: (target: StartedCheckout) => completeCreations(target, 32, () => ({ request_id: randomUUID() })),
  },
  { name: `delete a project with ${count} resources`, run: deleteProject },
].filter(({ name }) => name.includes(values.only));

const json = (key: string) => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });

async function call<Answer>(
  { url, operatorKey }: StartedCheckout,
  path: string,
  body?: object,
  method = "POST",
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: json(operatorKey),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

interface Claims {
  readonly claims?: readonly { readonly operation: { readonly path: string }; readonly claim_token: string }[];
}

/** Returns the bodies of the requests that complete what waits. */
async function claim(
  target: StartedCheckout,
  most: number,
): Promise<{ operation_path: string; claim_token: string }[]> {
  const asked = { max_operations: most, claim_duration: "3600s" };
  const { claims = [] } = await call<Claims>(target, `${service}/operations:claim`, asked);
  return claims.map(({ operation, claim_token }) => ({ operation_path: operation.path, claim_token }));
}

/** Creates resources, and returns the bodies of the requests that complete their creations. */
async function createClaimed(target: StartedCheckout, project: string) {
  const claimed = [];
  for (let created = 0; created < count; created += perBatch) {
    const requests = Array.from({ length: Math.min(perBatch, count - created) }, () => ({
      resource: { name: `r-${serial++}`, type_path: typePath, quantities: { cpu_cores: 2 } },
    }));
    await call(target, `/resources/v1alpha/${project}/resources:batchCreate`, { requests });
    claimed.push(...(await claim(target, requests.length)));
  }
  return claimed;
}

const complete = (target: StartedCheckout, body: object) => call(target, `${service}/operations:complete`, body);

/** Sends completions, so many at once. */
async function completeAll(target: StartedCheckout, bodies: readonly object[], atOnce: number): Promise<void> {
  const waiting = bodies.values();
  const completeOthers = async (): Promise<void> => {
    for (const body of waiting) await complete(target, body);
  };
  await Promise.all(Array.from({ length: atOnce }, completeOthers));
}

/** Measures a run in which all operations end. */
async function measure({ pid }: StartedCheckout, run: () => Promise<void>): Promise<Sample> {
  const [startedAt, before] = [performance.now(), processorTime(pid)];
  await run();
  return { rate: count / ((performance.now() - startedAt) / 1000), service: (processorTime(pid) - before) / count };
}

async function completeCreations(target: StartedCheckout, atOnce: number, more: () => object): Promise<Sample> {
  const claimed = await createClaimed(target, "orgs/acme/projects/web");
  const bodies = claimed.map((body) => ({ ...body, ...more() }));
  return measure(target, () => completeAll(target, bodies, atOnce));
}

/** Deletes a project by force, and carries out the deletions as they come. */
async function deleteProject(target: StartedCheckout): Promise<Sample> {
  const name = `deleted-${serial++}`;
  await call(target, "/iam/v1alpha/orgs/acme/projects", { name });
  await completeAll(target, await createClaimed(target, `orgs/acme/projects/${name}`), providers);
  return measure(target, async () => {
    await call(target, `/iam/v1alpha/orgs/acme/projects/${name}?force=true`, undefined, "DELETE");
    let left = count;
    const provide = async (): Promise<void> => {
      while (left > 0) {
        const claimed = await claim(target, 5);
        left -= claimed.length;
        if (claimed.length === 0) await sleep(50);
        await Promise.all(claimed.map((body) => complete(target, body)));
      }
    };
    await Promise.all(Array.from({ length: providers }, provide));
  });
}

async function prepare(target: StartedCheckout): Promise<void> {
  await call(target, "/resources/v1alpha/services", { name: "compute" });
  await call(target, "/resources/v1alpha/quantityKinds", { name: "cpu_cores", unit: "core" });
  const quantities = [{ kind: "cpu_cores", required: true, minimum: 1, maximum: 64, counted: true }];
  const operations = [{ verb: "create", quantities }, { verb: "delete" }];
  await call(target, `${service}/resourceTypes`, { name: "instances", collection: "instances", operations });
  await call(target, "/iam/v1alpha/orgs", { name: "acme" });
  await call(target, "/iam/v1alpha/orgs/acme/projects", { name: "web" });
}

pinToCore(process.pid, 1);
const postgres = await startPostgres();
try {
  const { started, stop } = await startCheckouts(postgres, values.against, {
    TENANTRY_MAX_RESOURCES_PER_PROJECT: "1000000",
  });
  try {
    for (const target of started) await prepare(target);
    const samples = await takeTurns(cases, started, rounds, (of, target) => of.run(target));
    const columns = [
      { title: "ends/s", key: "rate", digits: 0 },
      { title: "service µs", key: "service", digits: 0 },
    ] as const;
    printSamples(samples, started, columns, `${rounds} rounds of ${count} operations`);
  } finally {
    await stop();
  }
} finally {
  await postgres.stop();
}
