import { execFileSync } from "node:child_process";

/** Keeps a process and all its threads on one core, where the system can (Linux); elsewhere the scheduler decides. */
export function pinToCore(pid: number, core: number): void {
  try {
    execFileSync("taskset", ["-a", "-c", "-p", String(core), String(pid)], { stdio: "ignore" });
  } catch {
    console.error("taskset is not there: servers and load share the cores, so the figures mean less");
  }
}
