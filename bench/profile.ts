// Shows where the service spends its processor time: the share of each folder of its sources and of each package, for a Get, a List
// that is answered again, a List from the database, an access check and a POST. Run with `npm run bench:profile` or
// `npm run bench:profile -- --seconds 5 --only List`.
//
// The service runs on the first core and tells its profile to the inspector; the load and PostgreSQL run on the second. What V8 has
// inlined counts for the function that it is in. "native" is the kernel, and the parts of Node that are not JavaScript.
import { readFile } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { createServer } from "node:net";
import { once } from "node:events";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type HttpRequest, loadHttp } from "./load-http.ts";
import { pinToCore } from "./pin-to-core.ts";
import { startBench } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    connections: { type: "string", default: "128" },
    /** Runs the cases whose name contains it. */
    only: { type: "string", default: "" },
  },
});
const milliseconds = Number(values.seconds) * 1000;
const warmUpMs = 3000;

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly samples: readonly number[];
  /** In microseconds. */
  readonly timeDeltas: readonly number[];
}

/** The methods of the inspector's domain Profiler, which V8 documents. */
interface Profiler {
  start(): Promise<void>;
  stop(): Promise<Profile>;
  close(): void;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function openProfiler(port: number): Promise<Profiler> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
  await once(socket, "open");
  let calls = 0;
  const call = async (method: string, params: object = {}): Promise<{ readonly profile: Profile }> => {
    const id = ++calls;
    socket.send(JSON.stringify({ id, method: `Profiler.${method}`, params }));
    for (;;) {
      const [{ data }] = (await once(socket, "message")) as [MessageEvent];
      const answer = JSON.parse(data as string) as {
        id: number;
        result: { profile: Profile };
        error?: { message: string };
      };
      if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
      if (answer.id === id) return answer.result;
    }
  };
  await call("enable");
  await call("setSamplingInterval", { interval: 1000 });
  return {
    start: async () => void (await call("start")),
    stop: async () => (await call("stop")).profile,
    close: () => socket.close(),
  };
}

const root = join(import.meta.dirname, "..");
/** The source maps of the bundle, by file; undefined for a source: the service runs its sources when they are newer than the bundle. */
const maps = new Map<string, SourceMap | undefined>();

/** Returns the source of a function, from the root of the checkout. */
async function sourceOf({ url, lineNumber, columnNumber }: CallFrame): Promise<string> {
  const file = fileURLToPath(url);
  if (!maps.has(file)) {
    const text = await readFile(`${file}.map`, "utf8").catch(() => undefined);
    maps.set(file, text === undefined ? undefined : new SourceMap(JSON.parse(text) as SourceMapPayload));
  }
  const map = maps.get(file);
  if (map === undefined) return relative(root, file);
  const entry = map.findEntry(lineNumber, columnNumber);
  return "originalSource" in entry ? entry.originalSource.replace(/^(\.\.\/)+/, "") : "";
}

/** Returns what a function belongs to: `src/rest`, `pg` or `node:events`. */
async function partOf(frame: CallFrame): Promise<string> {
  const { url, functionName } = frame;
  if (functionName === "(idle)") return "";
  if (functionName === "(garbage collector)") return "garbage collector";
  if (url === "") return "native";
  if (url.startsWith("node:")) return url.replace("internal/", "").split("/")[0] ?? "";
  const source = await sourceOf(frame);
  const [, ours] = /^((?:src|gen)\/[^/]+)\//.exec(source) ?? [];
  const [, installed] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source) ?? [];
  return ours ?? installed ?? "src";
}

/** Prints the parts with at least a hundredth of the time that is not idle. */
async function printShares(name: string, rate: number, { nodes, samples, timeDeltas }: Profile): Promise<void> {
  const parts = new Map<number, string>();
  for (const { id, callFrame } of nodes) parts.set(id, await partOf(callFrame));
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const part = parts.get(id) ?? "";
    if (part !== "") times.set(part, (times.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const busy = [...times.values()].reduce((sum, time) => sum + time, 0);
  console.log(`\n${name}, ${rate.toFixed(0)} a second while they are profiled`);
  for (const [part, time] of [...times].toSorted(([, one], [, other]) => other - one)) {
    if (time / busy >= 0.01) console.log(`${((100 * time) / busy).toFixed(0).padStart(5)} %  ${part}`);
  }
}

pinToCore(process.pid, 1);
const inspectorPort = await findFreePort();
const bench = await startBench({ NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` });
try {
  const { url, key, get, list } = bench;
  const headers = { authorization: `Bearer ${key}` };
  const json = { ...headers, "content-type": "application/json" };
  const read = (path: string): HttpRequest => ({ method: "GET", path: `/iam/v1alpha/${path}`, headers });
  const check = JSON.stringify({ subject_path: get, permission: "iam.members.get", resource_path: get });
  let created = 0;
  const cases: Readonly<Record<string, HttpRequest | (() => HttpRequest)>> = {
    "REST Get by name": read(get),
    "REST List of 100": read(`${list}?page_size=100`),
    // Responses with deleted members are not reused.
    "REST List of 100, from the database": read(`${list}?page_size=100&show_deleted=true`),
    "REST access check": { method: "POST", path: "/iam/v1alpha/access:check", headers: json, body: check },
    "REST POST of a member": () => {
      const body = JSON.stringify({ name: `created-${created++}`, type: "USER", labels: { team: "storage" } });
      return { method: "POST", path: `/iam/v1alpha/${list}`, headers: json, body };
    },
  };
  const profiler = await openProfiler(inspectorPort);
  for (const [name, request] of Object.entries(cases)) {
    if (!name.includes(values.only)) continue;
    const load = (forMs: number): Promise<number> => loadHttp(url, request, Number(values.connections), forMs);
    await load(warmUpMs);
    await profiler.start();
    const rate = await load(milliseconds);
    await printShares(name, rate, await profiler.stop());
  }
  profiler.close();
} finally {
  await bench.stop();
}
