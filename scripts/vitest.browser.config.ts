// The tests in a real browser. They need Debian's chromium, which not every machine has.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/browser/*.browser.ts"],
    globalSetup: ["test/support/global-setup.ts", "test/browser/build-console.ts"],
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
