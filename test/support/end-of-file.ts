// What ends with each file of tests, beside what the file itself ends.
import { afterAll } from "vitest";

const ends: (() => Promise<void>)[] = [];

/** Runs a function after the tests of this file and of all files that follow in the worker. */
export function atEndOfFiles(end: () => Promise<void>): void {
  ends.push(end);
}

/** Registers what runs after the tests of the file that begins. */
export function endThisFile(): void {
  afterAll(async () => {
    for (const end of ends) await end();
  });
}
