// The job that notes where the logs of orgs and customers end, signed, in the log of the process, which is kept where nobody who can write to the database
// changes it. What a server has committed itself, it knows: nothing is read.
import type { Logger } from "pino";
import type { LogEnd, SignHead } from "../changes/signed-head.ts";
import type { Committed } from "../database/commits.ts";
import { isLogOfCustomer } from "../database/org-key.ts";
import type { Database } from "../database/database.ts";
import { type Repetition, repeat } from "../timers/repeat.ts";

interface LogHeadsJobOptions {
  readonly database: Pick<Database, "commits">;
  readonly signHead: SignHead;
  readonly logger: Logger;
  readonly intervalMs?: number;
  /** So many logs are noted at the end of the interval; with more, at once. */
  readonly maxOrgs?: number;
}

const quarterOfAnHourMs = 900_000;

/** Notes a log that this server has written to, at intervals, and when it is closed. */
export function createLogHeadsJob({
  database,
  signHead,
  logger,
  intervalMs = quarterOfAnHourMs,
  maxOrgs = 10_000,
}: LogHeadsJobOptions): Repetition<void> {
  /** Those that were not noted yet, by the id of their log. */
  const ends = new Map<string, LogEnd>();

  const note = async (): Promise<void> => {
    for (const [logId, end] of ends) {
      const head = await signHead(end, Date.now());
      // There may be a later one by now.
      if (ends.get(logId) === end) ends.delete(logId);
      const { revision } = end;
      if (end.isOfCustomer) logger.info({ customer: logId, revision, head }, "the log of a customer ends here");
      else logger.info({ org: logId, revision, head }, "the log of an org ends here");
    }
  };
  const onError = (err: unknown): void => logger.error({ err }, "failed to note the ends of logs; trying again");
  const job = repeat(note, { intervalMs, isDue: () => ends.size > 0, onError });

  const unsubscribe = database.commits.subscribe((committed) => {
    const end = endOf(committed);
    if (end !== undefined) ends.set(committed.orgId, end);
    if (ends.size === maxOrgs) void job.runOnce().catch(onError);
  }, onError);

  return {
    ...job,
    async close() {
      unsubscribe();
      await job.close();
      await note().catch(onError);
    },
  };
}

function endOf({ orgId: logId, entries }: Committed): LogEnd | undefined {
  const last = entries.at(-1);
  if (!last?.hash || !last.chain_start) return undefined;
  const { customer_id, revision, time, timeline = null, chain_start: chainStart, hash } = last;
  const isOfCustomer = isLogOfCustomer({ id: logId, customer_id });
  return { logId, isOfCustomer, revision, time, timeline, chainStart, hash: hash.slice(String.raw`\x`.length) };
}
