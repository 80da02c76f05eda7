// The tests in a real browser. They need Debian's chromium, which not every machine has.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/browser/*.browser.ts"],
    globalSetup: ["test/support/global-setup.ts", "test/browser/build-console.ts"],
    // Only what hangs takes this long, also on a slow and busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
