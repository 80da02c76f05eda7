// What jobs that deliver note of the logs that go on: what this server has written, and what others have written and may not have noted.
import type { Database } from "../database/database.ts";
import { type WrittenLog, noteHeads, noteWritten, noteWrittenSince, writtenLogOf } from "../events/deliveries/due.ts";
import type { Followers } from "../events/deliveries/followers.ts";

/** How long another server may have left something. */
export const rarelyMs = 60_000;
/** How long what is written may take from its time, which is that of the lock, to its commit. */
const longestWriteMs = 120_000;
/** How often all heads of logs are compared, in case something took longer. */
const compareMs = 3_600_000;

/** Keeps which orgs with followers this server has written, until that is noted in the database. */
export function createWritten(database: Database, followers: Followers, onError: (error: unknown) => void) {
  let logs = new Map<string, WrittenLog>();
  let count = 0;
  const add = (orgId: string, log: WrittenLog): void => {
    const isOrgChanged = log.isOrgChanged || logs.get(orgId)?.isOrgChanged === true;
    logs.set(orgId, { ...log, isOrgChanged });
  };
  const end = database.commits.subscribe((committed) => {
    const log = writtenLogOf(followers, committed);
    if (log === undefined) return;
    add(committed.orgId, log);
    count++;
  }, onError);

  return {
    end,
    /** Returns how many commits there were. */
    count: () => count,
    async note(): Promise<void> {
      if (logs.size === 0) return;
      const noted = logs;
      logs = new Map();
      try {
        await noteWritten(database.writes, followers, noted);
      } catch (error) {
        for (const [orgId, log] of noted) {
          const later = logs.get(orgId) ?? log;
          logs.set(orgId, { ...later, isOrgChanged: later.isOrgChanged || log.isOrgChanged });
        }
        throw error;
      }
    },
  };
}

/** Notes what other servers have written and may not have noted: at first and each hour all of it, and otherwise what is new. */
export function createNoteOthers({ writes }: Pick<Database, "writes">, followers: Followers) {
  let [comparedAt, notedAt] = [-Infinity, -Infinity];
  /** The clock of the database at the last look, and at the last one before it was noted: everything until then was. */
  let [seenMs, notedMs]: (number | undefined)[] = [];
  const isDue = (): boolean => performance.now() - notedAt >= rarelyMs;
  return {
    isDue,
    async note(): Promise<void> {
      const now = performance.now();
      const beforeMs = seenMs;
      if (notedMs === undefined || now - comparedAt >= compareMs) {
        await noteHeads(writes, followers);
        comparedAt = now;
      } else {
        await noteWrittenSince(writes, followers, new Date(notedMs - longestWriteMs));
      }
      notedAt = now;
      notedMs = beforeMs;
    },
    /** @param nowMs the clock of the database. */
    seen(nowMs: number): void {
      seenMs = nowMs;
    },
  };
}
