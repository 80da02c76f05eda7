// Measures what traces cost: the time on the processor for a Get and a write without traces, with 1 % of the calls, and with all. Run with
// `npm run bench:traces` or `npm run bench:traces -- --rounds 9 --seconds 2`; with `--against ../other`, another checkout without traces
// takes turns with them. Each server has a process and a database of its own, on the first core; the load, the collector and PostgreSQL
// are on the second. Figures are medians of the rounds, of which each has all cases in turn, and ratios to the first column.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { takeTurns } from "./compare-checkouts.ts";
import { median } from "./figures.ts";
import { type HttpRequest, loadHttp } from "./load-http.ts";
import { pinToCore } from "./pin-to-core.ts";
import { processorTime } from "./processor-time.ts";
import { startPostgres, startService } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "1" },
    against: { type: "string" },
  },
});
const forMs = Number(values.seconds) * 1000;
const connections = 32;

pinToCore(process.pid, 1);
const collector = createServer((request, response) => {
  request.resume().on("end", () => response.end());
}).listen(0, "127.0.0.1");
await once(collector, "listening");
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

const sampled = (share: number) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_TRACES_SAMPLER: "traceidratio",
  OTEL_TRACES_SAMPLER_ARG: String(share),
});

const servers = [
  ...(values.against === undefined ? [] : [{ name: "before", checkout: values.against, env: {} }]),
  { name: "off", env: {} },
  { name: "one_in_100", env: sampled(0.01) },
  { name: "all", env: sampled(1) },
];

const postgres = await startPostgres();
const started: { name: string; url: string; pid: number; key: string; stop: () => Promise<void> }[] = [];
try {
  for (const { name, ...options } of servers) {
    const { databaseUrl, directory } = await postgres.createDatabase(`bench_${name}`);
    const service = await startService(databaseUrl, directory, options);
    const key = await service.readOperatorKey();
    started.push({ ...service, name, key });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: "acme" });
    await fetch(`${service.url}/iam/v1alpha/orgs`, { method: "POST", headers, body });
  }

  let serial = 0;
  const cases: readonly { name: string; request: (key: string) => HttpRequest | (() => HttpRequest) }[] = [
    {
      name: "Get of an org",
      request: (key) => ({
        method: "GET",
        path: "/iam/v1alpha/orgs/acme",
        headers: { authorization: `Bearer ${key}` },
      }),
    },
    {
      name: "creation of a group",
      request: (key) => () => ({
        method: "POST",
        path: "/iam/v1alpha/orgs/acme/groups",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ name: `group-${serial++}` }),
      }),
    },
  ];
  const samples = await takeTurns(cases, started, Number(values.rounds), async ({ request }, { url, key, pid }) => {
    const before = processorTime(pid);
    let count = 0;
    await loadHttp(url, request(key), connections, forMs, () => void count++);
    return (processorTime(pid) - before) / count;
  });

  for (const [{ name }, ofServers] of samples) {
    console.log(`\n${name}, µs of the processor`);
    const medians = started.map((server) => median(ofServers.get(server) ?? []));
    for (const [index, server] of started.entries()) {
      const ratio = (medians[index] ?? Number.NaN) / (medians[0] ?? Number.NaN);
      console.log(`${server.name.padEnd(12)}${medians[index]?.toFixed(1).padStart(9)}${ratio.toFixed(3).padStart(9)}`);
    }
  }
} finally {
  for (const { stop } of started) await stop();
  await postgres.stop();
  collector.close();
}
