import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pinToCore } from "../pin-to-core.ts";
import type { Order } from "./hostile.ts";
import type { Place } from "./place.ts";

/** What the service answered, and how often. */
export type Counts = readonly (readonly [what: string, count: number])[];

export interface Hostile {
  /** Settles when the service has answered some of it. */
  start(way: string, place: Place): Promise<void>;
  /** Ends what was started. */
  stop(): Promise<Counts>;
  close(): Promise<void>;
}

/** Starts the process of the hostile load. It gives way to the quiet load, with which it shares a core. */
export async function startHostile(core: number): Promise<Hostile> {
  const command = [process.execPath, join(import.meta.dirname, "hostile.ts")];
  const child = spawn("nice", ["-n", "10", ...command], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  pinToCore(child.pid ?? 0, core);
  const exited = once(child, "exit");
  const receive = async (): Promise<Counts> => {
    const [counts] = (await Promise.race([once(child, "message"), exited])) as [Counts | number];
    if (!Array.isArray(counts)) throw new Error("the hostile load has ended");
    return counts as Counts;
  };
  const order = (message: Order): Promise<Counts> => {
    child.send(message);
    return receive();
  };
  await receive();
  return {
    async start(way, place) {
      await order({ way, place });
    },
    stop: () => order({}),
    async close() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
