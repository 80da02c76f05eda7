// Benchmarks the layers before the methods in one run, with trivial methods: REST, Connect and gRPC against bare node:http with the
// same bytes, connect-node and @grpc/grpc-js; then the transcoder in process; then the router alone. Run with `npm run bench:rest` or
// `npm run bench:rest -- --seconds 5 --rounds 7`.
//
// Each server runs in its own process on the first core, the load on the second; that over gRPC is h2load. Each round runs all cases in turn. Figures are
// medians of the rounds.
import { parseArgs } from "node:util";
import { type Figures, median, printTable } from "../figures.ts";
import { type HttpRequest, loadHttp } from "../load-http.ts";
import { loadGrpc } from "../load-grpc.ts";
import { pinToCore } from "../pin-to-core.ts";
import { measureHandler, measureRouter } from "./measure-in-process.ts";
import { getPath, importPath, recordJson, rpcGet } from "./records.ts";
import { startRecordServer } from "./start-record-server.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "5" },
    connections: { type: "string", default: "64" },
  },
});
const milliseconds = Number(values.seconds) * 1000;
const rounds = Number(values.rounds);
const connections = Number(values.connections);

pinToCore(process.pid, 1);

const header = (type: string) => ({ "content-type": type });
const get: HttpRequest = { method: "GET", path: getPath, headers: {} };
const post: HttpRequest = { method: "POST", path: importPath, headers: header("application/json"), body: recordJson };
const call = { method: "POST", path: rpcGet.path };
const json: HttpRequest = { ...call, headers: header("application/json"), body: rpcGet.json };
const proto: HttpRequest = { ...call, headers: header("application/proto"), body: Buffer.from(rpcGet.binary) };

const transcoder = await startRecordServer({ name: "transcoder" });
const answer = await (await fetch(transcoder.url + getPath)).text();
const bare = await startRecordServer({ name: "bare", answer });
const lanes = await startRecordServer({ name: "lanes" });
const connect = await startRecordServer({ name: "connect" });
const connectH2 = await startRecordServer({ name: "connect h2" });
const grpcJs = await startRecordServer({ name: "grpc-js" });

interface Case {
  readonly name: string;
  /** The name of the baseline. */
  readonly of: string;
  readonly run: (forMs: number) => Promise<number>;
}

const overHttp = (name: string, url: string, request: HttpRequest, of: string): Case => ({
  name,
  of,
  run: (forMs) => loadHttp(url, request, connections, forMs),
});
const overGrpc = (name: string, url: string, of: string): Case => ({
  name,
  of,
  run: (forMs) => loadGrpc(url, { path: rpcGet.path, headers: {}, message: rpcGet.binary }, connections, forMs),
});

const bareGet = "bare node:http, the bytes of the Get";
const barePost = "bare node:http, a body of ten fields";
const connectJson = "connect-node, Connect JSON, the same Get";
const cases: readonly Case[] = [
  overHttp(bareGet, bare.url, get, bareGet),
  overHttp("REST Get", transcoder.url, get, bareGet),
  overHttp("REST Get, on the service's listener", lanes.url, get, bareGet),
  overHttp("Connect JSON Get", lanes.url, json, bareGet),
  overHttp("Connect proto Get", lanes.url, proto, bareGet),
  overGrpc("gRPC Get", lanes.url, bareGet),
  overHttp(connectJson, connect.url, json, bareGet),
  overHttp("connect-node, Connect proto", connect.url, proto, bareGet),
  overGrpc("connect-node, gRPC", connectH2.url, bareGet),
  overGrpc("@grpc/grpc-js, gRPC", grpcJs.url, bareGet),
  overHttp(barePost, bare.url, post, barePost),
  overHttp("REST POST of ten fields", transcoder.url, post, barePost),
];

const samples = new Map(cases.map(({ name }) => [name, [] as number[]]));
for (const { run } of cases) await run(1000); // warm up
for (let round = 0; round < rounds; round++) {
  for (const { name, run } of cases) samples.get(name)?.push(await run(milliseconds));
}
for (const server of [transcoder, bare, lanes, connect, connectH2, grpcJs]) await server.stop();

const rate = (name: string): number => median(samples.get(name) ?? []);
const figures = cases.map(({ name, of }): Figures => ({
  name,
  rate: rate(name),
  ratio: rate(name) / rate(of),
  spread: samples.get(name) ?? [],
}));
printTable(`${connections} connections, ${rounds} rounds of ${values.seconds} s`, "requests/s", "of bare", figures);
console.log(
  `\nREST Get is ${(rate("REST Get") / rate(connectJson)).toFixed(1)} times as fast as Connect JSON of connect-node`,
);

console.log(`\nIn process, without sockets: ${(await measureHandler(50_000)).toFixed(1)} µs for a Get`);

console.log("\nThe router alone, nanoseconds for a match");
for (const segments of [4, 8, 16]) {
  const times = [10, 1000, 10_000].map((routes) => {
    const nanoseconds = measureRouter(routes, segments, 200_000);
    return `${nanoseconds.toFixed(0).padStart(8)} (${routes} routes)`;
  });
  console.log(`${String(segments).padStart(4)} segments${times.join("")}`);
}
