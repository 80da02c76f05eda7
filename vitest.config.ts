import { defineConfig } from "vitest/config";
import { databaseTests } from "./test/support/database-tests.ts";
import { rounds, soakTimeoutMs } from "./test/support/rounds.ts";

/** Another PostgreSQL than the embedded one changes nothing for tests that do not use it. */
const isOnNamedServer = process.env["TEST_DATABASE_URL"] !== undefined;

export default defineConfig({
  test: {
    include: isOnNamedServer ? databaseTests() : ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // Test files run in parallel, each with its own database.
    maxWorkers: 2,
    testTimeout: rounds(30_000, soakTimeoutMs),
    hookTimeout: 60_000,
  },
});
