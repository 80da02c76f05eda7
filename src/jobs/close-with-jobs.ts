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
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, graceMs)));
  await Promise.race([ended, late]);
  clearTimeout(timer);
  await closeDatabase();
  await ended;
}
