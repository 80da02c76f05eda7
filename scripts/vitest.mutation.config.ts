// The tests for mutation testing: those of the mutated code that use no database, so that each mutant takes only seconds.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/paths/**/*.test.ts", "test/access/engine/**/*.test.ts", "test/access/condition*.test.ts"],
    testTimeout: 30_000,
  },
});
