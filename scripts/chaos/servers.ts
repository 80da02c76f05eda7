// Servers of the service, as processes of their own, each with its own proxy to the database, or with a list of its hosts.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startSilentProxy } from "../../test/support/silent-proxy.ts";
import type { Findings } from "./findings.ts";
import { type Program, type Workplace, makeFolder } from "./processes.ts";
import { waitUntil } from "./wait-until.ts";

export const root = join(import.meta.dirname, "../..");

export interface Server {
  readonly name: string;
  readonly url: string;
  pid(): number;
  /** Kills the process, and starts another one on its port. */
  kill(): Promise<void>;
  /** Ends the process as a stop of the service does, and starts one of another tree of sources, with more settings, in its place. */
  replace(tree: string, settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Stops the process for a time, so that its connections are silent. */
  pause(ms: number): Promise<void>;
  /** Drops everything on the open connections to the database, if they go through a proxy. */
  silenceDatabase(): void;
  untilReady(): Promise<void>;
  /** Collects garbage, and returns the memory that is used then, in bytes. */
  liveMemory(): Promise<number>;
}

export interface Servers {
  readonly all: readonly Server[];
  readonly operatorKey: string;
  /** Returns the lines of the logs with a text. */
  linesWith(text: string): string[];
}

export interface ServerOptions {
  /** With several hosts, there is no proxy in front of them. */
  readonly databaseUrl: string;
  /** More environment variables. */
  readonly settings: Readonly<Record<string, string>>;
  /** More of each server, by its index. */
  readonly settingsOf?: (index: number) => Readonly<Record<string, string>>;
  /** The sources of the servers; by default, these. */
  readonly tree?: string;
  /** Whether the servers tell what memory they use (`live-memory.ts`). */
  readonly tellMemory: boolean;
}

export async function startServers(
  workplace: Workplace,
  ports: readonly number[],
  options: ServerOptions,
  findings: Findings,
): Promise<Servers> {
  const { directory } = workplace;
  writeFileSync(secretKeysOf(workplace), `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  const all: Server[] = [];
  for (const [index, port] of ports.entries()) {
    const settings = { ...options.settings, ...options.settingsOf?.(index) };
    // The first one migrates the database and writes the operator's key.
    const server = await startServer(workplace, `server${index}`, port, { ...options, settings }, findings);
    all.push(server);
  }
  return {
    all,
    operatorKey: readFileSync(join(directory, "server0", "operator-key"), "utf8").trim(),
    linesWith: (text) =>
      all.flatMap(({ name }) =>
        readFileSync(join(directory, `${name}.log`), "utf8")
          .split("\n")
          .filter((line) => line.includes(text)),
      ),
  };
}

/** All servers of a run have the same. */
export const secretKeysOf = ({ directory }: Workplace): string => join(directory, "secret-keys");

/** Starts a server, and waits until it is ready. */
export async function startServer(
  workplace: Workplace,
  name: string,
  port: number,
  options: ServerOptions,
  findings: Findings,
): Promise<Server> {
  const server = await startOne(workplace, name, port, options, findings);
  await server.untilReady();
  return server;
}

async function startOne(
  workplace: Workplace,
  name: string,
  port: number,
  { databaseUrl, settings, tellMemory, tree: firstTree = root }: ServerOptions,
  findings: Findings,
): Promise<Server> {
  const link = databaseUrl.includes(",") ? undefined : await startSilentProxy(databaseUrl);
  const url = `http://127.0.0.1:${port}`;
  const env = environmentOf(workplace, name, {
    PORT: String(port),
    DATABASE_URL: link?.url ?? databaseUrl,
    ...settings,
  });
  const log = join(workplace.directory, `${name}.log`);
  let isWanted = true;
  const preloads = tellMemory ? ["--expose-gc", `--import=${join(import.meta.dirname, "live-memory.ts")}`] : [];
  let source = { tree: firstTree, env };
  const start = (): Program => {
    const args = [...preloads, join(source.tree, "bin/tenantry.js"), "serve"];
    const started = workplace.start(name, process.execPath, args, { env: source.env });
    void started.ended.then(async () => {
      if (!isWanted) return;
      // One that has not listened could not start, and is started again.
      if (hasListened(log, started.pid)) findings.add("a server ended by itself", name);
      await sleep(500);
      program = start();
    });
    return started;
  };
  let program = start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    isWanted = false;
    program.signal(signal);
    await program.ended;
    isWanted = true;
  };
  workplace.onClose(() => {
    isWanted = false;
    link?.close();
  });
  return {
    name,
    url,
    pid: () => program.pid,
    async kill() {
      await end("SIGKILL");
      program = start();
    },
    async replace(next, nextSettings = {}) {
      await end("SIGTERM");
      source = { tree: next, env: { ...env, ...nextSettings } };
      program = start();
    },
    async pause(ms) {
      const paused = program;
      paused.signal("SIGSTOP");
      await sleep(ms);
      paused.signal("SIGCONT");
    },
    silenceDatabase: () => link?.silence(),
    async liveMemory() {
      const read = (): string[] =>
        existsSync(env.LIVE_MEMORY_FILE) ? readFileSync(env.LIVE_MEMORY_FILE, "utf8").trim().split("\n") : [];
      const { length } = read();
      program.signal("SIGUSR2");
      await waitUntil(`${name} has told its memory`, () => Promise.resolve(read().length > length));
      return Number(read().at(-1));
    },
    untilReady: () => waitUntil(`${name} is ready`, () => isReady(url)),
  };
}

function environmentOf(workplace: Workplace, name: string, settings: Readonly<Record<string, string>>) {
  return {
    TENANTRY_DATA: makeFolder(join(workplace.directory, name), undefined),
    TENANTRY_SECRET_KEYS_FILE: secretKeysOf(workplace),
    TENANTRY_ISSUER: "http://localhost:8080",
    TENANTRY_TRUSTED_PROXIES: "127.0.0.1",
    TENANTRY_ACCESS_LOG: "off",
    // Full before a soak compares what the servers hold.
    TENANTRY_ANSWER_MEMORY_MB: "4",
    TENANTRY_SHUTDOWN_DELAY_MS: "0",
    LIVE_MEMORY_FILE: join(workplace.directory, `${name}.memory`),
    ...settings,
  };
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
  await response.text();
  return response.ok;
}

/** Whether the log has the line of this process that it listens. */
function hasListened(log: string, pid: number): boolean {
  const lines = readFileSync(log, "utf8").split("\n");
  return lines.some((line) => line.includes(`"pid":${pid},`) && line.includes("listening on"));
}
