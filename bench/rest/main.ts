// Benchmarks the transcoder in one run: against bare node:http with the same bytes and against connect-node's own JSON, with
// trivial methods; then in process; then the router alone. Run with `npm run bench:rest` or
// `npm run bench:rest -- --seconds 5 --rounds 7`.
//
// Each server runs in its own process on the first core, the load on the second. Each round runs all cases in turn. Figures are
// medians of the rounds.
import { parseArgs } from "node:util";
import { type Figures, median, printTable } from "../figures.ts";
import { type HttpRequest, loadHttp } from "../load-http.ts";
import { pinToCore } from "../pin-to-core.ts";
import { measureHandler, measureRouter } from "./measure-in-process.ts";
import { connectGet, getPath, importPath, recordJson } from "./records.ts";
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

const headers = { "content-type": "application/json" };
const get: HttpRequest = { method: "GET", path: getPath, headers: {} };
const post: HttpRequest = { method: "POST", path: importPath, headers, body: recordJson };
const connectPost: HttpRequest = { method: "POST", path: connectGet.path, headers, body: connectGet.body };

const transcoder = await startRecordServer({ name: "transcoder" });
const answer = await (await fetch(transcoder.url + getPath)).text();
const bare = await startRecordServer({ name: "bare", answer });
const connect = await startRecordServer({ name: "connect" });

interface Case {
  readonly name: string;
  readonly url: string;
  readonly request: HttpRequest;
  /** The name of the baseline. */
  readonly of: string;
}

const bareGet = "bare node:http, the bytes of the Get";
const barePost = "bare node:http, a body of ten fields";
const connectJson = "connect-node, Connect JSON, the same Get";
const cases: readonly Case[] = [
  { name: bareGet, url: bare.url, request: get, of: bareGet },
  { name: "REST Get", url: transcoder.url, request: get, of: bareGet },
  { name: connectJson, url: connect.url, request: connectPost, of: bareGet },
  { name: barePost, url: bare.url, request: post, of: barePost },
  { name: "REST POST of ten fields", url: transcoder.url, request: post, of: barePost },
];

const samples = new Map(cases.map(({ name }) => [name, [] as number[]]));
for (const { url, request } of cases) await loadHttp(url, request, connections, 1000); // warm up
for (let round = 0; round < rounds; round++) {
  for (const { name, url, request } of cases) {
    samples.get(name)?.push(await loadHttp(url, request, connections, milliseconds));
  }
}
for (const server of [transcoder, bare, connect]) await server.stop();

const rate = (name: string): number => median(samples.get(name) ?? []);
const figures = cases.map(({ name, of }): Figures => ({
  name,
  rate: rate(name),
  ratio: rate(name) / rate(of),
  spread: samples.get(name) ?? [],
}));
printTable(`${connections} connections, ${rounds} rounds of ${values.seconds} s`, "requests/s", "of bare", figures);
console.log(`\nREST Get is ${(rate("REST Get") / rate(connectJson)).toFixed(1)} times as fast as Connect JSON`);

console.log(`\nIn process, without sockets: ${(await measureHandler(50_000)).toFixed(1)} µs for a Get`);

console.log("\nThe router alone, nanoseconds for a match");
for (const segments of [4, 8, 16]) {
  const times = [10, 1000, 10_000].map((routes) => {
    const nanoseconds = measureRouter(routes, segments, 200_000);
    return `${nanoseconds.toFixed(0).padStart(8)} (${routes} routes)`;
  });
  console.log(`${String(segments).padStart(4)} segments${times.join("")}`);
}
