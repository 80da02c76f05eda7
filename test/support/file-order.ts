import { join, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = join(import.meta.dirname, "../..");

/** Files and folders that mostly wait: for processes that they start, for connections that are silent, for locks. */
const waiting = [
  "test/access/removed-authors.test.ts",
  "test/cli/import-",
  "test/command/",
  "test/database/embedded/",
  "test/database/silent-connections.test.ts",
  "test/resources/sweeps.test.ts",
];

/** Files that keep a core busy for long, for their size. */
const long = [
  "test/access/every-method.test.ts",
  "test/access/existence.test.ts",
  "test/access/revocation-races.test.ts",
  "test/api/access-checks-freshness.test.ts",
  "test/api/batches.test.ts",
  "test/api/real-organisation.test.ts",
  "test/api/request-id.test.ts",
];

function isAmong(all: readonly string[], { moduleId }: TestSpecification): boolean {
  const path = relative(root, moduleId);
  return all.some((start) => path.startsWith(start));
}

/**
 * Runs the files that take longest first, so that all workers finish at about the same time, and beside each of them one that
 * mostly waits, so that no core waits. Without this, vitest sorts by size, or by the durations of an earlier run.
 */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of a sequencer, not of an array
    const sorted = await super.sort(files);
    const waits = sorted.filter((file) => isAmong(waiting, file));
    const busy = sorted.filter((file) => !isAmong(waiting, file));
    const first = [...busy.filter((file) => isAmong(long, file)), ...busy.filter((file) => !isAmong(long, file))];
    return [...first.flatMap((file, index) => [file, ...waits.slice(index, index + 1)]), ...waits.slice(first.length)];
  }
}
