import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { closeWithJobs } from "../../src/jobs/close-with-jobs.ts";

/** Creates something that takes a while to close, and notes when it begins and ends. */
function closing(name: string, events: string[], ms: number): { close(): Promise<void> } {
  return {
    async close() {
      events.push(`${name} closes`);
      await sleep(ms);
      events.push(`${name} is closed`);
    },
  };
}

test("jobs are closed at once, and the database when all have ended", async () => {
  const events: string[] = [];
  const jobs = [closing("one", events, 20), closing("two", events, 100)];
  await closeWithJobs(jobs, closing("database", events, 0).close);
  expect(events).toEqual([
    "one closes",
    "two closes",
    "one is closed",
    "two is closed",
    "database closes",
    "database is closed",
  ]);
});

test("a job that fails to close does not keep the database open", async () => {
  const events: string[] = [];
  const failing = { close: () => Promise.reject(new Error("refused")) };
  await closeWithJobs([failing], closing("database", events, 0).close);
  expect(events).toEqual(["database closes", "database is closed"]);
});
