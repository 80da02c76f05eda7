// Benchmarks the service against a bare node:http server that sends the same bytes, in one run. Run with `npm run bench` or
// `npm run bench -- --seconds 5 --rounds 7`. For the REST layer alone, without database and access checks:
// `npm run bench:rest`.
//
// Each server runs in its own process on the first core; the load and PostgreSQL run on the second. Each round runs all cases
// in turn, so that other load on the machine affects all of them. Figures are medians of the rounds. All calls use one API key
// and read one member; access logs are off. The load over gRPC is h2load, of Debian's package nghttp2-client.
import { parseArgs } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetMemberRequestSchema } from "../gen/iam/v1alpha/member_pb.ts";
import { measureBatching } from "./batching.ts";
import { type Figures, median, printTable } from "./figures.ts";
import { loadGrpc } from "./load-grpc.ts";
import { loadHttp } from "./load-http.ts";
import { pinToCore } from "./pin-to-core.ts";
import { startBench } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "5" },
    // Enough to keep the server's core busy while requests wait for PostgreSQL.
    connections: { type: "string", default: "128" },
  },
});
const milliseconds = Number(values.seconds) * 1000;
const rounds = Number(values.rounds);
const connections = Number(values.connections);

pinToCore(process.pid, 1);
const bench = await startBench();
try {
  const { bareUrl, url, key, get, list } = bench;
  const headers = { authorization: `Bearer ${key}` };
  const json = { ...headers, "content-type": "application/json" };
  const connectPath = "/iam.v1alpha.MembersService/GetMember";
  const body = JSON.stringify({ path: get });
  const proto = { ...headers, "content-type": "application/proto" };
  const bytes = Buffer.from(toBinary(GetMemberRequestSchema, create(GetMemberRequestSchema, { path: get })));
  const rest = (path: string) => ({ method: "GET", path: `/iam/v1alpha/${path}`, headers });

  /** Updates a member ten times a second meanwhile. */
  const besideWrites = async (run: () => Promise<number>): Promise<number> => {
    let count = 0;
    const update = async (): Promise<void> => {
      const change = JSON.stringify({ display_name: `Name ${count++}` });
      const response = await fetch(`${url}/iam/v1alpha/${get}`, { method: "PATCH", headers: json, body: change });
      if (!response.ok) throw new Error(await response.text());
    };
    const timer = setInterval(() => void update(), 100);
    return run().finally(() => clearInterval(timer));
  };

  const cases: Record<string, (forMs: number) => Promise<number>> = {
    "bare node:http, the bytes of the Get": (ms) =>
      loadHttp(bareUrl, { method: "GET", path: "/get", headers }, connections, ms),
    "REST Get by name": (ms) => loadHttp(url, rest(get), connections, ms),
    "Connect JSON Get by name": (ms) =>
      loadHttp(url, { method: "POST", path: connectPath, headers: json, body }, connections, ms),
    "Connect proto Get by name": (ms) =>
      loadHttp(url, { method: "POST", path: connectPath, headers: proto, body: bytes }, connections, ms),
    "gRPC Get by name": (ms) => loadGrpc(url, { path: connectPath, headers, message: bytes }, connections, ms),
    "bare node:http, the bytes of the List": (ms) =>
      loadHttp(bareUrl, { method: "GET", path: "/list", headers }, connections, ms),
    "REST List of 100": (ms) => loadHttp(url, rest(`${list}?page_size=100`), connections, ms),
    "REST List of 100, 10 writes a second": (ms) =>
      besideWrites(() => loadHttp(url, rest(`${list}?page_size=100`), connections, ms)),
    // Responses with deleted members are not reused.
    "REST List of 100, from the database": (ms) =>
      loadHttp(url, rest(`${list}?page_size=100&show_deleted=true`), connections, ms),
  };

  const samples = new Map(Object.keys(cases).map((name) => [name, [] as number[]]));
  for (const run of Object.values(cases)) await run(Math.min(milliseconds, 1500)); // warm up
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(cases)) samples.get(name)?.push(await run(milliseconds));
  }
  const rate = (name: string): number => median(samples.get(name) ?? []);
  const figures = Object.keys(cases).map((name): Figures => {
    const baseline = name.includes("List")
      ? "bare node:http, the bytes of the List"
      : "bare node:http, the bytes of the Get";
    return { name, rate: rate(name), ratio: rate(name) / rate(baseline), spread: samples.get(name) ?? [] };
  });
  printTable(`${connections} connections, ${rounds} rounds of ${values.seconds} s`, "requests/s", "of bare", figures);

  const batching = await measureBatching(bench.databaseUrl, get, 64, rounds, milliseconds);
  printTable("64 lookups at a time, in process", "lookups/s", "of unbatched", batching);
} finally {
  await bench.stop();
}
