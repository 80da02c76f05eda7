// The tests in a real browser. They need Debian's chromium, which not every machine has.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/browser/*.browser.ts"],
    globalSetup: ["test/support/global-setup.ts", "test/browser/build-console.ts", "test/browser/start-chromium.ts"],
    setupFiles: ["test/support/setup/end-of-file.ts"],
    // All files share the browser, and the modules that a worker has loaded and compiled.
    maxWorkers: 1,
    isolate: false,
    // Only what hangs takes this long, also on a slow and busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
