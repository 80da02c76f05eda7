// Benchmarks people who come into an org: by SCIM with groups, and by invitation, where each signs in at an OpenID provider and accepts.
// Meanwhile another org makes Gets, checks and creates at a fixed rate, as in the benchmark of neighbours: its waiting times are those alone
// and beside. Run with `npm run bench:people` or `npm run bench:people -- --people 500 --only "by SCIM"`.
//
// The service runs on the first core; PostgreSQL, the neighbour, and in a process of its own what brings people in, run on the second.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { quantile } from "./figures.ts";
import { type Asked, askSteadily } from "./neighbours/ask-steadily.ts";
import { createCall, createQuiet } from "./neighbours/place.ts";
import { quietRequest } from "./neighbours/requests.ts";
import type { Brought, Order } from "./people/bring.ts";
import { issuer } from "./people/place.ts";
import { pinToCore } from "./pin-to-core.ts";
import { processorTime } from "./processor-time.ts";
import { startPostgres, startService } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    people: { type: "string", default: "10000" },
    only: { type: "string" },
    /** Calls of the neighbour. */
    rate: { type: "string", default: "20" },
    /** How long the neighbour is measured alone. */
    seconds: { type: "string", default: "20" },
  },
});
const people = Number(values.people);
const ways = (["by SCIM", "by invitation"] as const).filter((way) => (values.only ?? way) === way);
const load = { perSecond: Number(values.rate), localAddress: "127.0.0.3" };
/** The neighbour looks this often whether all people are in. */
const sliceMs = 2_000;

pinToCore(process.pid, 1);
const postgres = await startPostgres();
const service = await startService(postgres.databaseUrl, postgres.directory, {
  env: {
    TENANTRY_MAX_MEMBERS_PER_ORG: "10000000",
    TENANTRY_ISSUER: issuer,
    TENANTRY_IDENTITY_PROVIDER_NETWORKS: "127.0.0.1/32",
  },
});
let asked = 0;
try {
  const operatorKey = await service.readOperatorKey();
  const quietKey = await createQuiet(createCall(service.url, operatorKey));
  const ask = (forMs: number): Promise<Asked> =>
    askSteadily(service.url, () => quietRequest({ quietKey }, asked++), { ...load, forMs });
  await ask(sliceMs); // warm up
  for (const way of ways) {
    const alone = await ask(Number(values.seconds) * 1_000);
    const order = { way, place: { url: service.url, operatorKey, people } };
    const { requests, seconds, processorMs, beside } = await bring(order, () => ask(sliceMs));
    console.log(
      `\n${people} people ${way}: ${seconds.toFixed(0)} s, ${requests} requests, ${(processorMs / people).toFixed(1)} ms of the service's processor for each, with the neighbour's calls`,
    );
    print("the neighbour alone", [alone]);
    print("the neighbour beside", beside);
  }
} finally {
  await service.stop();
  await postgres.stop();
}

/** Has all people brought, and asks meanwhile. */
async function bring(order: Order, ask: () => Promise<Asked>) {
  const child = fork(join(import.meta.dirname, "people/bring.ts"));
  pinToCore(child.pid ?? 0, 1);
  const ended = once(child, "exit");
  await Promise.race([once(child, "message"), ended]);
  const before = processorTime(service.pid);
  let brought: Brought | undefined;
  child.once("message", (message: Brought) => (brought = message));
  if (child.connected) child.send(order);
  const beside: Asked[] = [];
  while (child.connected) beside.push(await ask());
  await ended;
  if (brought === undefined) throw new Error(`not all people came ${order.way}`);
  return { ...brought, processorMs: (processorTime(service.pid) - before) / 1_000, beside };
}

function print(name: string, slices: readonly Asked[]): void {
  const of = (key: "taken" | "late"): number[] => slices.flatMap((each) => each[key]);
  const failures = slices.flatMap((each) => each.failures);
  const [p50, p99, late] = [quantile(of("taken"), 0.5), quantile(of("taken"), 0.99), quantile(of("late"), 0.99)];
  const times = [p50, p99, late].map((ms) => ms.toFixed(1));
  console.log(
    `${name.padEnd(22)}p50 ${times[0]} ms, p99 ${times[1]} ms, sent late by ${times[2]} ms (p99), ${of("taken").length} calls, ${failures.length} failed${failures[0] === undefined ? "" : `, the first with ${failures[0]}`}`,
  );
}
