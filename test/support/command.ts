import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { copyCluster } from "./copy-cluster.ts";

const run = promisify(execFile);

const ownTree = join(import.meta.dirname, "../..");

export interface User {
  readonly uid: number;
  readonly gid: number;
}

interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly user?: User | undefined;
  /** The source tree of the command; by default, this one. */
  readonly tree?: string;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], { env = {}, cwd, user, tree = ownTree }: RunOptions): ChildProcess {
  return spawn(process.execPath, [join(tree, "bin/tenantry.js"), ...args], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: inject("compileCache"),
      TENANTRY_SHUTDOWN_DELAY_MS: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd !== undefined && { cwd }),
    ...user,
  });
}

/** Runs `tenantry` with these arguments until it exits. */
export async function runTenantry(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = start(args, options);
  const output = collect(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout: output.stdout, stderr: output.stderr };
}

/** A command that runs. */
export interface Started {
  readonly pid: number;
  /** Everything that it has written. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves to the exit code. */
  signal(name: NodeJS.Signals): Promise<number | null>;
}

export interface Served extends Started {
  readonly url: string;
}

/** Starts `tenantry` with these arguments. */
export function startTenantry(args: readonly string[], options: RunOptions = {}): Started & { child: ChildProcess } {
  const child = start(args, options);
  const exited = once(child, "close") as Promise<[number | null]>;
  return {
    child,
    pid: child.pid ?? 0,
    output: collect(child),
    async signal(name) {
      child.kill(name);
      const [code] = await exited;
      return code;
    },
  };
}

/** Starts `tenantry serve` on a free port and waits until it listens. */
export async function serveTenantry(options: RunOptions = {}): Promise<Served> {
  const { child, ...started } = startTenantry(["serve"], { ...options, env: { PORT: "0", ...options.env } });
  const { output } = started;
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", () => {
      const listening = /listening on (http:[^"]+)/.exec(output.stdout);
      if (listening?.[1] !== undefined) resolve(listening[1]);
    });
    child.once("close", (code) => reject(new Error(`serve ended with ${code}: ${output.stdout}${output.stderr}`)));
  });
  return { url, ...started };
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  return output;
}

/**
 * Creates a home directory that other users cannot enter, and a folder in it. A cluster in the folder, whose database is
 * migrated, makes a service start faster.
 */
export async function makePrivateFolder(
  user: User | undefined,
  { withCluster = false } = {},
): Promise<{ folder: string; remove: () => Promise<void> }> {
  const home = await mkdtemp(join(tmpdir(), "tenantry-home-"));
  const folder = join(home, "work");
  await mkdir(folder);
  const cluster = inject("migratedCluster");
  if (withCluster && cluster !== "") await copyCluster(cluster, join(folder, "data/postgres"));
  if (user !== undefined) await run("chown", ["-R", `${user.uid}:${user.gid}`, home]);
  return { folder, remove: () => rm(home, { recursive: true, force: true }) };
}
