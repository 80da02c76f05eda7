import { configDefaults, defineConfig } from "vitest/config";
import { FileOrder } from "./test/support/file-order.ts";
import { filesOn15 } from "./test/support/files-on-15.ts";
import { createFolderTimes } from "./test/support/folder-times.ts";
import { isOnNamedServer } from "./test/support/named-server.ts";
import { rounds, soakTimeoutMs } from "./test/support/rounds.ts";
import { timeBudgets } from "./test/time-budgets.ts";

export default defineConfig({
  test: {
    include: isOnNamedServer ? [...filesOn15] : ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["bounded-shrinking", "end-of-file", "recorded-statements"].map(
      (name) => `test/support/setup/${name}.ts`,
    ),
    // Test files run in parallel, and each worker has a server and a database for those that can share them. Three keep two cores
    // busy, since many wait for other processes. Two leave a third of them unused. With four, beside what else CI runs, all waited so
    // long for a core that calls were answered UNAVAILABLE, because connections and locks did not come in time.
    maxWorkers: 3,
    // A worker loads and compiles modules once for all of its files, and its shared servers stay open.
    isolate: false,
    sequence: { sequencer: FileOrder },
    reporters: [...configDefaults.reporters, createFolderTimes(timeBudgets)],
    // Only what hangs takes this long, also on a slow and busy machine. What is waited for usually comes at once.
    testTimeout: rounds(300_000, soakTimeoutMs),
    // A title names the whole method or resource of its case.
    taskTitleValueFormatTruncate: 120,
    hookTimeout: 600_000,
    teardownTimeout: 120_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
