import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Driver, type Given, OperationFailure, type Work } from "./driver.ts";
import { openRecords } from "./records.ts";

const program = join(import.meta.dirname, "instance-program.ts");
const mebibyte = 1_048_576;
/** How long a process may take to stop before it is killed. */
const graceMs = 30_000;

const cores = { kind: "cpu_cores", required: true, minimum: 1, step: 1, counted: true };
const ram = { kind: "ram", required: true, minimum: 64 * mebibyte, counted: true };

interface Instance {
  readonly cores: number;
  /** The limit of the heap, in MiB. */
  readonly heap: number;
  readonly isRunning: boolean;
  /** Whether its process is stopped, with what is in its memory. */
  readonly isSuspended?: boolean;
  /** 0 until the instance has one, which it then keeps. */
  readonly port: number;
  /** The latest process; 0 if there has been none. */
  readonly pid: number;
}

/**
 * Compute instances: processes of Node.js whose heap is limited, on Linux bound to as many CPUs as they have cores. They end
 * with the provider and are started again by the next one.
 */
export function createInstances(directory: string, log: (line: string) => void): Driver {
  const records = openRecords<Instance>(directory);
  const processes = new Map<string, ChildProcess>();

  const start = async (id: string, instance: Omit<Instance, "isRunning">): Promise<Instance> => {
    const node = [process.execPath, `--max-heap-size=${instance.heap}`, program, id, String(instance.port)];
    const bind = process.platform === "linux" ? ["taskset", "--cpu-list", `0-${instance.cores - 1}`] : [];
    const [command = "", ...args] = [...bind, ...node];
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    processes.set(id, child);
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`its process has ended with ${code}`);
    });
    ended.catch((error: unknown) => {
      if (processes.get(id) === child && processes.delete(id)) log(`the instance ${id}: ${String(error)}`);
    });
    const [port] = (await Promise.race([once(child, "message"), ended])) as [number];
    const started = { ...instance, isRunning: true, port, pid: child.pid ?? 0 };
    await records.put(id, started);
    return started;
  };

  const stop = async (id: string, signal?: AbortSignal): Promise<void> => {
    const child = processes.get(id);
    if (child === undefined) return killLeftOver(id, (await records.get(id))?.pid);
    processes.delete(id);
    const ended = once(child, "exit", { signal });
    const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
    child.kill("SIGTERM");
    // A process that is suspended ends when it goes on.
    if ((await records.get(id))?.isSuspended === true) child.kill("SIGCONT");
    await ended.finally(() => clearTimeout(timer));
  };

  /** Runs the instance with what the operation wants, or else with what it has, in place of what runs until now. */
  const allocate = async ({ operation: { quantities }, resource, signal }: Work): Promise<Given> => {
    const { id } = resource;
    const amounts = { ...resource.quantities, ...quantities };
    const wanted = { cores: amounts[cores.kind] ?? 1, heap: Math.ceil((amounts[ram.kind] ?? 0) / mebibyte) };
    const most = { cores: availableParallelism(), heap: Math.floor(totalmem() / mebibyte) };
    if (wanted.cores > most.cores || wanted.heap > most.heap) {
      const message = `an instance can have at most ${most.cores} cores and ${most.heap * mebibyte} bytes of memory`;
      throw new OperationFailure("NO_CAPACITY", message);
    }
    await stop(id, signal);
    signal.throwIfAborted();
    const started = await start(id, { port: 0, pid: 0, ...(await records.get(id)), ...wanted });
    return {
      ...(ram.kind in quantities && { quantities: { [ram.kind]: wanted.heap * mebibyte } }),
      outputs: outputsOf(started),
    };
  };

  const setSuspended = async ({ resource: { id } }: Work, isSuspended: boolean): Promise<Given> => {
    processes.get(id)?.kill(isSuspended ? "SIGSTOP" : "SIGCONT");
    const known = await records.get(id);
    if (known === undefined) return {};
    await records.put(id, { ...known, isSuspended });
    return { outputs: outputsOf({ ...known, isSuspended }) };
  };

  return {
    service: "compute",
    type: "instances",
    operations: {
      create: { quantities: [cores, ram], run: allocate },
      resize: { quantities: [cores, ram], run: allocate },
      start: { run: allocate },
      stop: {
        async run({ resource: { id }, signal }) {
          await stop(id, signal);
          const known = await records.get(id);
          if (known === undefined) return {};
          await records.put(id, { ...known, isRunning: false });
          return { outputs: outputsOf({ ...known, isRunning: false }) };
        },
      },
      suspend: { run: (work) => setSuspended(work, true) },
      resume: { run: (work) => setSuspended(work, false) },
      delete: {
        async run({ resource: { id }, signal }) {
          await stop(id, signal);
          await records.delete(id);
          return {};
        },
      },
    },
    async restore() {
      for (const [id, instance] of await records.all()) {
        if (!instance.isRunning) continue;
        await stop(id);
        await start(id, instance).catch((error: unknown) => log(`cannot restore ${id}: ${String(error)}`));
        if (instance.isSuspended === true) processes.get(id)?.kill("SIGSTOP");
      }
    },
    async close() {
      await Promise.all([...processes.keys()].map((id) => stop(id)));
    },
  };
}

function outputsOf({ isRunning, isSuspended = false, port, pid }: Instance): JsonObject {
  if (!isRunning) return { status: "STOPPED" };
  return { status: isSuspended ? "SUSPENDED" : "RUNNING", address: `127.0.0.1:${port}`, pid };
}

/** Kills a process that has outlived its provider. One with the same number that does not name the instance is another. */
async function killLeftOver(id: string, pid = 0): Promise<void> {
  const isLeft = async () => {
    const args = await promisify(execFile)("ps", ["-o", "args=", "-p", String(pid)]).catch(() => undefined);
    return args?.stdout.includes(id) ?? false;
  };
  while (await isLeft()) {
    kill(pid);
    await sleep(50);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
