// Measures what checks without a database cost while there is one: the time on the processor for a check on a server without the setting,
// on one with it, and there for a caller who allows an answer from memory. Run with `npm run bench:stale` or
// `npm run bench:stale -- --rounds 9 --seconds 2`. Each server has a database of its own, and is on the first core; the load and
// PostgreSQL are on the second. Figures are medians of the rounds, of which each has all cases in turn, and ratios to the first line.
import { parseArgs } from "node:util";
import { takeTurns } from "./compare-checkouts.ts";
import { median } from "./figures.ts";
import { loadHttp } from "./load-http.ts";
import { pinToCore } from "./pin-to-core.ts";
import { processorTime } from "./processor-time.ts";
import { startPostgres, startService } from "./start-bench.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, seconds: { type: "string", default: "1" } },
});
const forMs = Number(values.seconds) * 1000;
const connections = 32;

pinToCore(process.pid, 1);
const postgres = await startPostgres();
const services: Awaited<ReturnType<typeof startService>>[] = [];
try {
  const start = async (name: string, env: Readonly<Record<string, string>>) => {
    const { databaseUrl, directory } = await postgres.createDatabase(name);
    const service = await startService(databaseUrl, directory, { env });
    services.push(service);
    const headers = {
      authorization: `Bearer ${await service.readOperatorKey()}`,
      "content-type": "application/json",
    };
    for (const [path, resource] of Object.entries({ orgs: "acme", "orgs/acme/members": "alice" })) {
      const body = JSON.stringify({ name: resource });
      const response = await fetch(`${service.url}/iam/v1alpha/${path}`, { method: "POST", headers, body });
      if (!response.ok) throw new Error(await response.text());
    }
    return { ...service, headers };
  };
  const without = await start("bench_off", {});
  const on = await start("bench_on", { TENANTRY_STALE_CHECKS_SECONDS: "3600" });

  const check = { subject_path: "/orgs/acme/members/alice", permission: "iam.orgs.get", resource_path: "/orgs/acme" };
  const targets = [
    { name: "without the setting", service: without, body: check },
    { name: "with it", service: on, body: check },
    { name: "with it and max_staleness", service: on, body: { ...check, max_staleness: "3600s" } },
  ];
  const path = "/iam/v1alpha/access:check";
  const samples = await takeTurns(["a check"], targets, Number(values.rounds), async (_case, { service, body }) => {
    const before = processorTime(service.pid);
    let count = 0;
    const { headers } = service;
    const request = { method: "POST", path, headers, body: JSON.stringify(body) };
    await loadHttp(service.url, request, connections, forMs, () => void count++);
    return (processorTime(service.pid) - before) / count;
  });

  console.log("A check, µs of the processor");
  const medians = targets.map((target) => median(samples.get("a check")?.get(target) ?? []));
  for (const [index, { name }] of targets.entries()) {
    const ratio = (medians[index] ?? Number.NaN) / (medians[0] ?? Number.NaN);
    console.log(`${name.padEnd(28)}${medians[index]?.toFixed(1).padStart(9)}${ratio.toFixed(3).padStart(9)}`);
  }
} finally {
  for (const service of services) await service.stop();
  await postgres.stop();
}
