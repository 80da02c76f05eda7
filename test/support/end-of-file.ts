// What ends with each file of tests, beside what the file itself ends.
import { type RunnerTask, afterAll } from "vitest";

/** @param failed whether a test of the file failed, or what it set up. */
type End = (failed: boolean) => Promise<void>;

const ends: End[] = [];

/** Runs a function after the tests of this file and of all files that follow in the worker. */
export function atEndOfFiles(end: End): void {
  ends.push(end);
}

/** Registers what runs after the tests of the file that begins. */
export function endThisFile(): void {
  // oxlint-disable-next-line no-empty-pattern -- vitest reads which fixtures the first parameter names.
  afterAll(async ({}, file) => {
    for (const end of ends) await end(hasFailed(file));
  });
}

function hasFailed(task: RunnerTask): boolean {
  return task.result?.state === "fail" || ("tasks" in task && task.tasks.some(hasFailed));
}
