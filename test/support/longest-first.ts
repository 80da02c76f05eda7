import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files and folders that take long for their size, because of the database or other processes, or because they wait, which they
 * do best while others have work.
 */
const longest = [
  "test/database/silent-connections.test.ts",
  "test/access/removed-authors.test.ts",
  "test/access/revocation-races.test.ts",
  "test/api/access-checks-freshness.test.ts",
  "test/api/writes.test.ts",
  "test/api/batches.test.ts",
  "test/resources/sweeps.test.ts",
  "test/api/real-organisation.test.ts",
  "test/standard-methods/list-plans.test.ts",
  "test/access/every-method.test.ts",
  "test/access/existence.test.ts",
  "test/access/escalation-reads.test.ts",
  "test/command/",
  "test/examples/",
  "test/cli/import-",
  "test/database/embedded/",
  "test/package.test.ts",
];

/**
 * Runs the files that take longest first, so that all workers finish at about the same time. Without this, vitest sorts by
 * size, or by the durations of an earlier run.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => {
      const file = relative(this.ctx.config.root, moduleId);
      return longest.some((start) => file.startsWith(start));
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of a sequencer, not of an array
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
