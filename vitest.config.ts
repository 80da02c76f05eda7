import { defineConfig } from "vitest/config";
import { namedServerTests } from "./test/support/database-tests.ts";
import { FileOrder } from "./test/support/file-order.ts";
import { isOnNamedServer } from "./test/support/named-server.ts";
import { rounds, soakTimeoutMs } from "./test/support/rounds.ts";

export default defineConfig({
  test: {
    // Another PostgreSQL than the embedded one changes nothing for tests that do not use it, or only as others do.
    include: isOnNamedServer ? namedServerTests() : ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/bounded-shrinking.ts"],
    // Test files run in parallel, each with its own database. Four keep two cores busy, since many wait for other processes. Fewer
    // take less processor time, because each compiles and optimises the service for itself, but two leave a fifth of it unused.
    maxWorkers: 4,
    // A worker loads and compiles modules once for all of its files. They cannot disturb each other: no module keeps state.
    isolate: false,
    sequence: { sequencer: FileOrder },
    // Only what hangs takes this long, also on a slow and busy machine. What is waited for usually comes at once.
    testTimeout: rounds(300_000, soakTimeoutMs),
    hookTimeout: 600_000,
    teardownTimeout: 120_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
