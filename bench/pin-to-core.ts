import { execFileSync } from "node:child_process";

/** Pins a process and all its threads to a core with taskset, which Linux has. Prints a warning on other systems. */
export function pinToCore(pid: number, core: number): void {
  try {
    execFileSync("taskset", ["-a", "-c", "-p", String(core), String(pid)], { stdio: "ignore" });
  } catch {
    console.error("taskset is not there: servers and load share the cores, so the figures mean less");
  }
}
