// Benchmarks the first access check after a start, in an org of a million members: with the snapshot in a file, and without. Run with
// `npm run bench:restart` or `npm run bench:restart -- --members 100000 --rounds 3`. Takes some minutes, mostly for inserting the
// members with SQL. What is measured is the time of a check from outside, after the service has started and answered another one, the
// processor time of the service meanwhile, and its resident memory when it has been idle for some seconds.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Org, fillOrgs, question, shapeOrg } from "./access-orgs.ts";
import { median } from "./figures.ts";
import { pinToCore } from "./pin-to-core.ts";
import { processorTime } from "./processor-time.ts";
import { residentMemory } from "./resident-memory.ts";
import { startPostgres, startService } from "./start-bench.ts";

const { values } = parseArgs({
  options: { members: { type: "string", default: "1000000" }, rounds: { type: "string", default: "3" } },
});
const org = shapeOrg(Number(values.members));
const small: Org = { ...shapeOrg(100), name: "small" };
const rounds = Number(values.rounds);
const idleMs = 5_000;
const memory = { TENANTRY_ACCESS_MEMORY_MB: "1024", TENANTRY_REQUEST_TIMEOUT_MS: "120000" };

interface Sample {
  readonly ms: number;
  readonly processorMs: number;
  readonly residentMiB: number;
}

pinToCore(process.pid, 1);
const postgres = await startPostgres();
try {
  const first = await start();
  const key = await first.readOperatorKey();
  for (const { name } of [org, small]) await call(first.url, key, "orgs", { name });
  await fillOrgs(postgres.databaseUrl, [org, small]);
  await ask(first, key);
  await waitForFile();
  await first.stop();

  const samples = { "from the tables": [] as Sample[], "from a file": [] as Sample[] };
  for (let round = 0; round < rounds; round++) {
    const withFile = await start();
    samples["from a file"].push(await ask(withFile, key));
    await withFile.stop();
    // In another directory, so that the file stays.
    const without = await start({ TENANTRY_ACCESS_DISK_MB: "0" }, join(postgres.directory, "without"));
    samples["from the tables"].push(await ask(without, key));
    await without.stop();
  }
  console.log(
    `\nthe first check after a start, in an org of ${org.members} members; the median of ${rounds}, and the longest`,
  );
  for (const [name, taken] of Object.entries(samples)) {
    const of = (figure: keyof Sample): number[] => taken.map((each) => each[figure]);
    const [usual, longest] = [median(of("ms")), Math.max(...of("ms"))].map((ms) => `${ms.toFixed(0)} ms`);
    const [processorMs, residentMiB] = [median(of("processorMs")).toFixed(0), median(of("residentMiB")).toFixed(0)];
    console.log(
      `${name.padEnd(20)} ${usual}, ${longest}; the service's processor ${processorMs} ms, its memory ${residentMiB} MiB`,
    );
  }
} finally {
  await postgres.stop();
}

function start(env: Readonly<Record<string, string>> = {}, directory = postgres.directory) {
  return startService(postgres.databaseUrl, directory, { env: { ...memory, ...env } });
}

/** Asks about the small org, and then about the large one. */
async function ask({ url, pid }: { readonly url: string; readonly pid: number }, key: string): Promise<Sample> {
  for (let number = 0; number < 200; number++) await call(url, key, "access:check", question(small, number));
  const [startedAt, before] = [performance.now(), processorTime(pid)];
  const { allowed } = await call(url, key, "access:check", question(org, 0));
  if (allowed !== true) throw new Error("the first check is not allowed");
  const [ms, processorMs] = [performance.now() - startedAt, (processorTime(pid) - before) / 1000];
  await sleep(idleMs);
  return { ms, processorMs, residentMiB: residentMemory(pid) };
}

async function waitForFile(): Promise<void> {
  const directory = join(postgres.directory, "access-snapshots");
  const isThere = async () => (await readdir(directory).catch(() => [])).some((name) => name.endsWith(".snapshot"));
  while (!(await isThere())) await sleep(500);
}

async function call(url: string, key: string, path: string, body: object): Promise<{ allowed?: boolean }> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${url}/iam/v1alpha/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as { allowed?: boolean };
}
