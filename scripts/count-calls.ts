// Prints how much code a single request runs through after a warm-up: the number of files of src/, and the number of calls of
// named functions. Run with `npm run count:calls`; `-- --list` adds the counts of each file, `-- --functions` those of each
// function with its location, and `-- --json` prints everything as JSON. Takes about 20 seconds.
//
// The whole service runs in this process, on its own embedded PostgreSQL. The caller is a member with the role admin on the
// org. Each request is sent alone, and calls after its response count too. Several callers measure it once each, and the fewest
// calls are printed: ids are random, and the number of steps to find one in memory depends on the others. Each membership is
// created right after another one, so the request also reads that change. gen/ is excluded.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pino from "pino";
import { type CalledFunction, startCallCounter } from "./call-counter.ts";

const { values } = parseArgs({
  options: {
    list: { type: "boolean", default: false },
    functions: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

/** Each caller measures a request once. */
const callerCount = 15;

/** How often each caller sends a request before it measures one. */
const warmUps = { read: 20, write: 4 };

/** How long to wait for work that continues after a response. */
const settleMs = 50;

type Answer = Readonly<Record<string, unknown>>;
type Call = (method: string, path: string, body?: object) => Promise<Answer>;

interface Case {
  readonly name: string;
  readonly warmUps: number;
  readonly send: (call: Call) => Promise<unknown>;
}

const counter = await startCallCounter(new URL("../src/", import.meta.url).href);
const directory = await mkdtemp(join(tmpdir(), "tenantry-count-"));
try {
  const server = await startService();
  try {
    const operatorKey = (await readFile(join(directory, "operator-key"), "utf8")).trim();
    const callerKeys = await fillOrg(createCall(server.url, operatorKey));
    const callers = callerKeys.map((key) => createCall(server.url, key));
    const measured: Measured[] = [];
    for (const one of createCases()) measured.push(summarise(one.name, await measure(one, callers)));
    print(measured);
  } finally {
    await server.close();
  }
} finally {
  await rm(directory, { recursive: true, force: true });
  await counter.stop();
}

/** Starts the service without background work. Its code is loaded here because the counter must be running by then. */
async function startService() {
  const { readConfig } = await import("../src/config.ts");
  const { startServer } = await import("../src/server.ts");
  const config = readConfig({
    PORT: "0",
    TENANTRY_DATA: directory,
    TENANTRY_LOG_LEVEL: "fatal",
    TENANTRY_ACCESS_LOG: "off",
    TENANTRY_PURGE_INTERVAL_MS: "86400000",
  });
  return startServer(config, pino({ level: config.logLevel }), (error) => {
    throw error;
  });
}

function createCall(url: string, key: string): Call {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${url}/iam/v1alpha/${path}`, init);
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Answer;
  };
}

/** Creates the org of the README, with a group that is bound a role on a project. Returns an API key of each caller. */
async function fillOrg(call: Call): Promise<string[]> {
  await call("POST", "orgs", { name: "acme" });
  const callers = Array.from({ length: callerCount }, (_, index) => `caller-${index}`);
  const joiners = Array.from({ length: callerCount * (warmUps.write + 1) }, (_, index) => joinerName(index));
  const requests = ["alice", ...callers, ...joiners].map((name) => ({ member: { name } }));
  await call("POST", "orgs/acme/members:batchCreate", { requests });
  await call("POST", "orgs/acme/projects", { name: "web-shop" });
  await call("POST", "orgs/acme/groups", { name: "engineering" });
  await call("POST", "orgs/acme/groups/engineering/members", { member_path: "/orgs/acme/members/alice" });
  await call("POST", "orgs/acme/roles", { name: "starter", permissions: ["compute.instances.start"] });
  const bind = (on: string, name: string, role: string, subject: string): Promise<Answer> =>
    call("POST", `${on}/roleBindings`, { name, role_path: role, subject_path: `/orgs/acme/${subject}` });
  await bind("orgs/acme/projects/web-shop", "engineering-starts", "/orgs/acme/roles/starter", "groups/engineering");
  const keys: string[] = [];
  for (const name of callers) {
    await bind("orgs/acme", name, "/roles/admin", `members/${name}`);
    const { secret } = await call("POST", `orgs/acme/members/${name}/apiKeys`, { name: "laptop" });
    keys.push(String(secret));
  }
  return keys;
}

/** The name of a member who is not in the group yet. */
function joinerName(index: number): string {
  return `member-${index}`;
}

function createCases(): readonly Case[] {
  const memberships = "orgs/acme/groups/engineering/members";
  let joined = 0;
  return [
    {
      name: "GET orgs/acme/members/alice",
      warmUps: warmUps.read,
      send: (call) => call("GET", "orgs/acme/members/alice"),
    },
    {
      name: `POST ${memberships}`,
      warmUps: warmUps.write,
      send: (call) => call("POST", memberships, { member_path: `/orgs/acme/members/${joinerName(joined++)}` }),
    },
    {
      name: "POST access:check",
      warmUps: warmUps.read,
      async send(call) {
        const { allowed } = await call("POST", "access:check", {
          subject_path: "/orgs/acme/members/alice",
          permission: "compute.instances.start",
          resource_path: "/orgs/acme/projects/web-shop/instances/db-1",
        });
        if (allowed !== true) throw new Error("alice is expected to have access");
      },
    },
  ];
}

/** Returns the functions that one request calls. */
async function measure({ warmUps: times, send }: Case, callers: readonly Call[]): Promise<CalledFunction[]> {
  const samples: CalledFunction[][] = [];
  for (const call of callers) {
    for (let time = 0; time < times; time++) await send(call);
    await sleep(settleMs);
    await counter.take();
    await send(call);
    await sleep(settleMs);
    samples.push(await counter.take());
  }
  const [fewest = []] = samples.toSorted((one, other) => sumCalls(one) - sumCalls(other));
  return fewest;
}

interface Measured {
  readonly request: string;
  readonly files: number;
  readonly calls: number;
  readonly functions: number;
  readonly perFile: readonly { readonly file: string; readonly calls: number; readonly functions: number }[];
  readonly perFunction: readonly CalledFunction[];
}

/** A file counts even if only functions without a name run in it, such as the handlers that a table holds. */
function summarise(request: string, called: readonly CalledFunction[]): Measured {
  const perFile = [...Map.groupBy(called, ({ file }) => file)]
    .map(([file, functions]) => ({ file, ...countNamed(functions) }))
    .toSorted((one, other) => other.calls - one.calls || (one.file < other.file ? -1 : 1));
  return { request, files: perFile.length, ...countNamed(called), perFile, perFunction: called.filter(isNamed) };
}

function countNamed(called: readonly CalledFunction[]): { calls: number; functions: number } {
  const named = called.filter(isNamed);
  return { calls: sumCalls(named), functions: named.length };
}

function isNamed({ name }: CalledFunction): boolean {
  return name !== "";
}

function sumCalls(called: readonly CalledFunction[]): number {
  return called.reduce((sum, { calls }) => sum + calls, 0);
}

function print(measured: readonly Measured[]): void {
  if (values.json) {
    console.log(JSON.stringify(measured, null, 2));
    return;
  }
  line("request", "files", "calls", "functions");
  for (const { request, files, calls, functions } of measured) line(request, files, calls, functions);
  for (const { request, perFile, perFunction } of measured) {
    if (values.list) {
      console.log(`\n${request}: calls and functions of each file`);
      for (const { file, calls, functions } of perFile) console.log(`${cell(calls)}${cell(functions)}  src/${file}`);
    }
    if (values.functions) {
      console.log(`\n${request}: calls of each function`);
      for (const { name, file, line: at, calls } of perFunction)
        console.log(`${cell(calls)}  ${name}  src/${file}:${at}`);
    }
  }
}

function line(name: string, ...cells: readonly (string | number)[]): void {
  console.log(`${name.padEnd(42)}${cells.map((text) => String(text).padStart(10)).join("")}`);
}

function cell(count: number): string {
  return String(count).padStart(6);
}
