import { waitAtMost } from "../timers/wait-at-most.ts";

/** How long runs in progress may take to end before the database is closed. */
const graceMs = 5_000;

/**
 * Closes jobs, and then the database that they use. Runs that do not end in time, because the database does not answer or a lock is
 * held, fail when it closes.
 */
export async function closeWithJobs(
  jobs: readonly { close(): Promise<void> }[],
  closeDatabase: () => Promise<void>,
): Promise<void> {
  const ended = Promise.allSettled(jobs.map((job) => job.close()));
  await waitAtMost(graceMs, ended);
  await closeDatabase();
  await ended;
}
