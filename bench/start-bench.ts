import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import pg from "pg";
import { MembersService } from "../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../gen/iam/v1alpha/org_pb.ts";
import { readPostmasterPid } from "../src/database/embedded/postmaster-pid.ts";
import { startEmbeddedPostgres } from "../src/database/embedded/start-embedded-postgres.ts";
import { pinToCore } from "./pin-to-core.ts";
import { ratesOfBench } from "./rates-of-bench.ts";

export interface Bench {
  /** The bare server; `/get` and `/list` return the same bytes as the service. */
  readonly bareUrl: string;
  readonly url: string;
  /** The process of the service. */
  readonly pid: number;
  readonly key: string;
  readonly databaseUrl: string;
  /** The path of the member to get, and of the collection to list. */
  readonly get: string;
  readonly list: string;
  stop(): Promise<void>;
}

const memberCount = 1000;

/**
 * Starts PostgreSQL, the service with an org of 1,000 members, and the bare server.
 *
 * @param env more variables for the service.
 */
export async function startBench(env: Readonly<Record<string, string>> = {}): Promise<Bench> {
  const postgres = await startPostgres();
  const { databaseUrl } = postgres;
  const service = await startService(databaseUrl, postgres.directory, { env });
  const key = await service.readOperatorKey();
  await createMembers(service.url, key);

  const get = "orgs/acme/members/member-500";
  const list = "orgs/acme/members";
  const ask = async (path: string): Promise<string> => {
    const response = await fetch(`${service.url}/iam/v1alpha/${path}`, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(await response.text());
    return response.text();
  };
  const bare = await startBareServer({ "/get": await ask(get), "/list": await ask(`${list}?page_size=100`) });
  return {
    bareUrl: bare.url,
    url: service.url,
    pid: service.pid,
    key,
    databaseUrl,
    get,
    list,
    async stop() {
      await bare.stop();
      await service.stop();
      await postgres.stop();
    },
  };
}

interface BenchPostgres {
  readonly databaseUrl: string;
  readonly pid: number;
  /** For everything that the benchmark writes. It is removed in the end. */
  readonly directory: string;
  /** Creates another database, and a data directory for a service on it. */
  createDatabase(name: string): Promise<{ readonly databaseUrl: string; readonly directory: string }>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL on the core of this process. */
export async function startPostgres(): Promise<BenchPostgres> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-bench-"));
  const postgres = await startEmbeddedPostgres({ directory: join(directory, "postgres"), log: () => {} });
  const { host, port, user, database } = postgres.connection;
  const urlOf = (name: string): string =>
    `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
  return {
    databaseUrl: urlOf(database),
    pid: (await readPostmasterPid(join(directory, "postgres", "cluster")))?.pid ?? 0,
    directory,
    async createDatabase(name) {
      const client = new pg.Client({ connectionString: urlOf(database) });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      const own = join(directory, name);
      await mkdir(own);
      return { databaseUrl: urlOf(name), directory: own };
    },
    async stop() {
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Started {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

interface StartedService extends Started {
  readOperatorKey(): Promise<string>;
}

interface ServiceOptions {
  /** The root of the service's sources. Default: this one. */
  readonly checkout?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the service in its own process, on the first core. */
export async function startService(
  databaseUrl: string,
  dataDirectory: string,
  { checkout, env: settings }: ServiceOptions = {},
): Promise<StartedService> {
  const env = {
    ...process.env,
    ...(checkout === undefined ? ratesOfBench : await knownTo(checkout, ratesOfBench)),
    PORT: "0",
    DATABASE_URL: databaseUrl,
    TENANTRY_DATA: dataDirectory,
    TENANTRY_ACCESS_LOG: "off",
    ...settings,
  };
  // All services on a database need the same key.
  await writeFile(join(dataDirectory, "secret-keys"), `${Buffer.alloc(32, 1).toString("base64")}\n`, { mode: 0o600 });
  const bin = join(checkout ?? join(import.meta.dirname, ".."), "bin/tenantry.js");
  const child = spawn(process.execPath, [bin, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  pinToCore(child.pid ?? 0, 0);
  let output = "";
  for await (const text of child.stdout.setEncoding("utf8")) {
    output += text as string;
    const url = /listening on (http:[^"]+)/.exec(output)?.[1];
    if (url === undefined) continue;
    const readOperatorKey = async () => (await readFile(join(dataDirectory, "operator-key"), "utf8")).trim();
    return { ...started(child, url), readOperatorKey };
  }
  throw new Error(`the service did not start: ${output}`);
}

/** Returns the settings that a checkout has, which may be older: a service does not start with one that it does not know. */
async function knownTo(checkout: string, settings: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const config = await readFile(join(checkout, "src/config.ts"), "utf8");
  return Object.fromEntries(Object.entries(settings).filter(([name]) => config.includes(name)));
}

async function startBareServer(bodies: Record<string, string>): Promise<Started> {
  const child = fork(join(import.meta.dirname, "bare-server.ts"));
  pinToCore(child.pid ?? 0, 0);
  child.send(bodies);
  const [port] = (await once(child, "message")) as [number];
  return started(child, `http://127.0.0.1:${port}`);
}

function started(child: ChildProcess, url: string): Started {
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function createMembers(url: string, key: string): Promise<void> {
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${key}`);
        return next(request);
      },
    ],
  });
  await createClient(OrgsService, transport).createOrg({ org: { name: "acme", displayName: "Acme Ltd" } });
  const members = createClient(MembersService, transport);
  const labels = { team: "storage", site: "north" };
  for (let index = 0; index < memberCount; index++) {
    const member = { name: `member-${index}`, displayName: `Member Nº ${index}`, labels };
    await members.createMember({ parentPath: "orgs/acme", member });
  }
}
