import { setTimeout as delay } from "node:timers/promises";

import { hasCode } from "./has-code.ts";

/**
 * Stops a server and resolves when it has ended. Tries a fast shutdown (ends sessions and writes everything), then an immediate
 * one (the next start recovers from the log), then SIGKILL. Calls `isRunning` before each signal, because the process id may be
 * reused once the server has ended.
 */
export async function stopServer(pid: number, isRunning: () => boolean | Promise<boolean>): Promise<void> {
  for (const [signal, patience] of [
    ["SIGINT", 30_000],
    ["SIGQUIT", 10_000],
    ["SIGKILL", 10_000],
  ] as const) {
    if (!(await isRunning())) return;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!hasCode(error, "ESRCH")) throw error;
    }
    const until = Date.now() + patience;
    while (Date.now() < until) {
      if (!(await isRunning())) return;
      await delay(20);
    }
  }
  throw new Error(`The PostgreSQL server (process ${pid}) does not end.`);
}
