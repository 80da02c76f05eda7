// Benchmarks what one org does to another: with one org at its limits in each of many ways, the p99 of another org has to stay
// within 3 times its quiet p99 or 50 ms, whichever is more. Run with `npm run bench:neighbours` or, for some of the ways,
// `npm run bench:neighbours -- --only who-may,filters --rounds 3 --seconds 5`. Exits with 1 if a way misses the bound.
//
// The quiet org makes Gets, checks and creates at a fixed rate, each counted from when it was due. In each round, every way has a
// quiet part and one under load, in turn; figures are medians of the rounds. The service runs on the first core; the loads and
// PostgreSQL run on the second, the hostile load in a process of its own with a lower priority.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { median, quantile } from "./figures.ts";
import { pinToCore } from "./pin-to-core.ts";
import { startPostgres, startService } from "./start-bench.ts";
import { askSteadily } from "./neighbours/ask-steadily.ts";
import { type Place, createCall, createCallers, createLarge, ratesOfLimited } from "./neighbours/place.ts";
import { quietRequest } from "./neighbours/requests.ts";
import { type Counts, type Hostile, startHostile } from "./neighbours/start-hostile.ts";
import { type Way, ways } from "./neighbours/ways.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    /** Names of ways, separated by commas. */
    only: { type: "string" },
    /** Calls of the quiet org. */
    rate: { type: "string", default: "50" },
  },
});
const rounds = Number(values.rounds);
const perSecond = Number(values.rate);
const milliseconds = Number(values.seconds) * 1000;

/** The bound: so many times the quiet p99, or so many milliseconds. */
const maxRatio = 3;
const maxMs = 50;

/** How long a way runs before it is measured. */
const settleMs = 500;

/** The service has finished what a way left when so many Gets in a row take no longer than this, or after the longest time. */
const calm = { gets: 5, getMs: 25, longestMs: 60_000 };

interface Sample {
  readonly p50: number;
  readonly p99: number;
  /** Of how late requests were sent. */
  readonly late: number;
  readonly failures: readonly string[];
}

interface Measured {
  readonly quiet: Sample[];
  readonly loaded: Sample[];
  counts: Counts;
}

const quietLoad = { perSecond, forMs: milliseconds, localAddress: "127.0.0.3" };
let asked = 0;
const chosen = chooseWays(values.only);
pinToCore(process.pid, 1);
const postgres = await startPostgres();
const stops: (() => Promise<void>)[] = [() => postgres.stop()];
try {
  const place = await createPlace();
  const hostile = await startHostile(1);
  stops.push(() => hostile.close());
  await sample(place); // warm up
  const measured = new Map(chosen.map((way): [Way, Measured] => [way, { quiet: [], loaded: [], counts: [] }]));
  for (let round = 0; round < rounds; round++) {
    for (const [way, samples] of measured) await measure(way, samples, place, hostile);
  }
  if (!printTable(measured)) process.exitCode = 1;
} finally {
  for (const stop of stops.toReversed()) await stop();
}

function chooseWays(names: string | undefined): readonly Way[] {
  if (names === undefined) return ways;
  return names.split(",").map((name) => {
    const found = ways.find((way) => way.name === name);
    if (found === undefined) throw new Error(`no way ${name}; there are ${ways.map((way) => way.name).join(", ")}`);
    return found;
  });
}

async function createPlace(): Promise<Place> {
  const { databaseUrl, directory } = postgres;
  // The limit of anonymous requests is the default one.
  const env = {
    TENANTRY_MAX_MEMBERS_PER_ORG: "10000000",
    TENANTRY_SHUTDOWN_DELAY_MS: "0",
    TENANTRY_ANONYMOUS_PER_ADDRESS: "1000",
  };
  // The large org is written with SQL, of which a running service would not know.
  const first = await startService(databaseUrl, directory, { env });
  const operatorKey = await first.readOperatorKey();
  await createLarge(createCall(first.url, operatorKey), databaseUrl);
  await first.stop();
  const service = await startService(databaseUrl, directory, { env });
  stops.push(() => service.stop());
  const callers = await createCallers(createCall(service.url, operatorKey));
  const limited = await startService(databaseUrl, directory, { env: { ...env, ...ratesOfLimited } });
  stops.push(() => limited.stop());
  return { url: service.url, limitedUrl: limited.url, ...callers };
}

async function measure(way: Way, samples: Measured, place: Place, hostile: Hostile): Promise<void> {
  samples.quiet.push(await sample(place, way));
  await hostile.start(way.name, place);
  await sleep(settleMs);
  samples.loaded.push(await sample(place, way));
  samples.counts = await hostile.stop();
  await waitForCalm(place);
}

async function waitForCalm(place: Place): Promise<void> {
  const endMs = performance.now() + calm.longestMs;
  for (let gets = 0; gets < calm.gets && performance.now() < endMs;) {
    const { taken } = await askSteadily(place.url, () => quietRequest(place, 1), {
      ...quietLoad,
      perSecond: 50,
      forMs: 20,
    });
    gets = (taken[0] ?? 0) <= calm.getMs ? gets + 1 : 0;
  }
}

async function sample(place: Place, way?: Way): Promise<Sample> {
  const url = way?.isLimited === true ? place.limitedUrl : place.url;
  const { taken, late, failures } = await askSteadily(url, () => quietRequest(place, asked++), quietLoad);
  return { p50: quantile(taken, 0.5), p99: quantile(taken, 0.99), late: quantile(late, 0.99), failures };
}

/** Returns whether all ways are within the bound. */
function printTable(measured: ReadonlyMap<Way, Measured>): boolean {
  const columns = ["p50", "p99", "late", "p50", "p99", "late", "bound", ""];
  const line = (name: string, cells: readonly string[], rest: string) =>
    console.log(`${name.padEnd(18)}${cells.map((cell) => cell.padStart(8)).join("")}  ${rest}`);
  console.log(
    `\nmilliseconds of the quiet org at ${perSecond} calls a second, ${rounds} rounds of ${values.seconds} s`,
  );
  line("", ["alone", "", "", "beside", "", "", "", ""], "");
  line("", columns, "answers to the hostile load in the last round");
  let isWithin = true;
  for (const [way, { quiet, loaded, counts }] of measured) {
    const [alone, beside] = [medians(quiet), medians(loaded)];
    const bound = Math.max(maxRatio * alone.p99, maxMs);
    const failures = loaded.flatMap((each) => each.failures);
    const passes = beside.p99 <= bound && failures.length === 0;
    isWithin &&= passes;
    const times = [alone, beside].flatMap(({ p50, p99, late }) => [p50, p99, late]);
    const cells = [...times.map((each) => each.toFixed(1)), bound.toFixed(0), passes ? "ok" : "MISSED"];
    const answers = counts.map(([what, count]) => `${count} ${what}`).join(", ");
    line(way.name, cells, `${way.what}: ${answers}`);
    if (failures.length > 0) console.log(`  ${failures.length} quiet calls failed, the first with ${failures[0]}`);
  }
  return isWithin;
}

function medians(samples: readonly Sample[]): Omit<Sample, "failures"> {
  const of = (key: "p50" | "p99" | "late"): number => median(samples.map((each) => each[key]));
  return { p50: of("p50"), p99: of("p99"), late: of("late") };
}
