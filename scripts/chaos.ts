// Runs three servers behind HAProxy, with a PostgreSQL that has a synchronous standby, under the load of many orgs and a hostile one;
// kills servers, silences connections and lets the database fail over; and checks that no answer was wrong. Run with `npm run chaos`;
// `npm run chaos -- --help` lists the options. It needs Debian's haproxy and postgresql-15, and pgbouncer for
// `--pooler`, and takes about seven minutes.
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { createApi } from "../test/support/api.ts";
import { type Faults, injectFaults } from "./chaos/faults.ts";
import { type Findings, createFindings } from "./chaos/findings.ts";
import { furnishHostileOrg, startHostile } from "./chaos/hostile.ts";
import { type Latencies, type Window, createLatencies } from "./chaos/latencies.ts";
import { startLoad } from "./chaos/load.ts";
import { type Options, readOptions } from "./chaos/options.ts";
import { createOrgs, createOwnedOrg } from "./chaos/orgs.ts";
import { type Workplace, createWorkplace } from "./chaos/processes.ts";
import { createRandom } from "./chaos/random.ts";
import { soak } from "./chaos/soak.ts";
import { startStack } from "./chaos/stack.ts";
import { countThings, verify } from "./chaos/verify.ts";

/** In each org. */
const callersPerOrg = 2;

const options = readOptions(process.argv.slice(2));
console.log(`seed ${options.seed}`);
const findings = createFindings();
const workplace = createWorkplace();
await run(options, workplace, findings);
// Connections of clients that nobody closes would keep the process.
process.exit(findings.print() ? 1 : 0);

async function run({ seed, orgs: count, ...times }: Options, place: Workplace, found: Findings): Promise<void> {
  const stack = await startStack(place, found, times);
  const { servers, databases, url } = stack;
  console.log(`servers, databases and HAProxy run in ${place.directory}`);
  const orgs = await createOrgs(url, servers.operatorKey, count, callersPerOrg);
  const hostileOrg = await createOwnedOrg(createApi("Connect", url, servers.operatorKey), "hostile", 1);
  await furnishHostileOrg(url, hostileOrg);
  const latencies = createLatencies();
  const load = startLoad({ url, servers: servers.all, orgs, seed, latencies, findings: found });
  const quietFrom = Date.now();
  console.log(
    `${count} orgs write and read; the load average is ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`,
  );
  if (times.soak) {
    await soak(times.seconds, servers.all, databases, found);
    await load.stop();
  } else {
    await sleep(times.quietSeconds * 1_000);
    const quiet = { from: quietFrom, to: Date.now() };
    const loud = Date.now();
    const hostile = startHostile(url, hostileOrg, seed, found);
    const random = createRandom(seed, "faults");
    const faults = await injectFaults({ ...times, servers: servers.all, databases, random });
    const end = Date.now();
    await Promise.all([load.stop(), hostile.stop()]);
    console.log(`${faults.kills.length} kills, pauses and silent connections; ${faults.failovers.length} failovers`);
    console.log(`the hostile org made ${hostile.calls()} calls; failures:`, Object.fromEntries(hostile.failures));
    compareLatencies(times, latencies, quiet, { from: loud, to: end }, faults, found);
  }
  console.log(`quiet orgs made ${load.calls()} calls; failures:`, Object.fromEntries(load.failures));
  await stack.untilWell();
  const urls = servers.all.map((server) => server.url);
  await verify({ urls, orgs, histories: load.histories, databaseUrl: databases.primaryUrl(), findings: found });
  const writes = load.histories.flatMap((history) => history.writes);
  const sure = writes.filter(({ isSure }) => isSure).length;
  console.log(
    `${sure} writes acknowledged, ${writes.length - sure} not; ${countThings(load.histories)} resources are there`,
  );
  for (const line of servers.linesWith('"reason":"INTERNAL"').slice(0, 5)) console.log(line);
}

/**
 * Prints how long the calls of quiet orgs took. The bound is that of calls that no fault has hit: what has, takes as long as HAProxy
 * and the server need to find it.
 */
function compareLatencies(
  { latencyFactor, latencyFloor, enforceLatency }: Pick<Options, "latencyFactor" | "latencyFloor" | "enforceLatency">,
  latencies: Latencies,
  quiet: Window,
  loud: Window,
  { failovers, kills }: Faults,
  found: Findings,
): void {
  for (const kind of ["read", "write"] as const) {
    const print = (when: string, from: Window, except: readonly Window[]) => {
      const { count, p50, p99 } = latencies.summarise(kind, from.from, from.to, except);
      const text = `${kind}s of quiet orgs ${when}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${count}`;
      console.log(text);
      return { p99, text };
    };
    const before = print("while all is quiet", quiet, []);
    print("outside of failovers", loud, failovers);
    const after = print("outside of failovers and kills", loud, [...failovers, ...kills]);
    if (enforceLatency && after.p99 > Math.max(latencyFloor, latencyFactor * before.p99))
      found.add("quiet orgs are slower than their bound", after.text);
  }
}
