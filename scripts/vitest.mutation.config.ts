// The tests for mutation testing: those that say most about the mutated code in the least time, the fastest first.
// `MUTATE=decisions` takes those of decisions and of the guard against escalation, which need a server.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const inMemory = [
  "test/paths/**/*.test.ts",
  "test/access/engine/**/*.test.ts",
  "test/access/condition*.test.ts",
  "test/access/{claims-rule,known-dependencies,split-conjunction}.test.ts",
];

const onServer = [
  "access/allows-everywhere",
  "access/allows",
  "access/explain-denial",
  "access/condition-budget",
  "access/resolve-in-snapshot",
  "access/target-path",
  "access/call",
  "access/limited-grants",
  "access/authorise",
  "access/list-visibility",
  "access/confirm-author",
  "access/escalation-guard",
  "access/guard-revocations",
  "access/guard-renames",
  "api/impersonation",
  "access/last-owner",
  "access/denials",
  "access/described",
  "access/limited-keys",
  "access/limited-key-acts",
  "access/confirmed-keys",
  "access/escalation",
].map((name) => `test/${name}.test.ts`);

class AsListed extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => onServer.findIndex((file) => moduleId.endsWith(file));
    return Promise.resolve(files.toSorted((left, right) => placeOf(left) - placeOf(right)));
  }
}

const isOnServer = process.env["MUTATE"] === "decisions";

export default defineConfig({
  test: {
    include: isOnServer ? onServer : inMemory,
    exclude: ["test/access/condition-costs.test.ts", "test/access/conditional-batches.test.ts"],
    globalSetup: isOnServer ? ["scripts/mutation/provide-server.ts"] : [],
    setupFiles: ["scripts/mutation/count-hooks.ts"],
    isolate: false,
    sequence: { sequencer: AsListed },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
