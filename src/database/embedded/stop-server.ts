import { setTimeout as delay } from "node:timers/promises";

import { hasCode } from "./has-code.ts";

/**
 * Stops a server and resolves when it has gone: at first the fast way (sessions are ended, everything is written), then
 * the immediate one (the next start recovers from the log), and last by force. `isRunning` is asked before each signal:
 * once the server has gone, its process id may be another's.
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
