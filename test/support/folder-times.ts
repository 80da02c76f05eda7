import { join, relative, sep } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";
import { judgeFolderTimes } from "./judge-folder-times.ts";
import { isOnNamedServer } from "./named-server.ts";
import { rounds } from "./rounds.ts";

/**
 * Creates a reporter that prints what the tests of each folder took at the end of a whole run, and fails the run if one took longer
 * than `judgeFolderTimes` accepts on a machine whose seconds count.
 *
 * @param budgets in seconds, by the folder or file in test/.
 */
export function createFolderTimes(budgets: Readonly<Record<string, number>>): Reporter {
  let vitest: Vitest | undefined;
  return {
    onInit(started) {
      vitest = started;
    },
    async onTestRunEnd(modules, _errors, reason) {
      // A failure may end a run early, or wait for a timeout.
      if (vitest === undefined || reason !== "passed" || !(await ranEverything(vitest, modules))) return;
      const { slowness, times, errors, warnings } = judgeFolderTimes(
        secondsOf(modules, join(vitest.config.root, "test")),
        budgets,
      );
      console.log(
        `Seconds of tests, and budgets${slowness > 1 ? ` of a machine ${slowness.toFixed(1)} times faster` : ""}:`,
      );
      for (const { folder, seconds, budget } of times) {
        console.log(`  ${folder.padEnd(20)}${seconds.toFixed(1).padStart(7)}${String(budget).padStart(6)}`);
      }
      if (warnings.length > 0)
        console.error("Not refused, since this machine is too slow or too busy to compare with:");
      for (const line of [...warnings, ...errors]) console.error(line);
      if (errors.length > 0) process.exitCode = 1;
    },
  };
}

/** Whether the run is one that the budgets are for: all tests of all files, on the embedded server, with few repetitions. */
async function ranEverything(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
  if (isOnNamedServer || rounds(false, true) || vitest.config.testNamePattern !== undefined) return false;
  return modules.length === (await vitest.globTestSpecifications()).length;
}

/**
 * Returns the sums of the durations of files. They contain the tests and their hooks, and so what tests prepare, but not the imports:
 * a worker imports most modules once, for the first of its files that needs them, which may be another one in each run.
 */
function secondsOf(modules: readonly TestModule[], root: string): Readonly<Record<string, number>> {
  const seconds: Record<string, number> = {};
  for (const module of modules) {
    const [folder = ""] = relative(root, module.moduleId).split(sep);
    seconds[folder] = (seconds[folder] ?? 0) + module.diagnostic().duration / 1000;
  }
  return seconds;
}
