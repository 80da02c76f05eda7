// Tests that take long, of what few changes touch: the package as npm publishes it, a client that is generated from the OpenAPI document,
// the example of a provider, the version before on the same database, the plans of lists of large tables, and a Prometheus.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.slow.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/setup/end-of-file.ts"],
    // They run beside other tests.
    maxWorkers: 1,
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    teardownTimeout: 120_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
