// The tests for mutation testing: those that say most about the mutated code in the least time. `MUTATE=decisions` takes those of
// decisions and of the guard against escalation, which need a server: about a minute of a core for each mutant that survives.
import { defineConfig } from "vitest/config";

const inMemory = ["test/paths/**/*.test.ts", "test/access/engine/**/*.test.ts", "test/access/condition*.test.ts"];

const onServer = [
  "allows-everywhere",
  "denials",
  "described",
  "escalation",
  "foreign-subjects",
  "last-owner",
  "limited-grants",
  "renames",
  "scope-kinds",
  "suspension",
  "trimmed-lists",
].map((name) => `test/access/${name}.test.ts`);

const isOnServer = process.env["MUTATE"] === "decisions";

export default defineConfig({
  test: {
    include: isOnServer ? onServer : inMemory,
    exclude: ["test/access/condition-costs.test.ts"],
    globalSetup: isOnServer ? ["test/support/global-setup.ts"] : [],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
