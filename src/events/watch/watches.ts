// All streams of changes of a server. They are served in rounds: the heads of the logs that are watched are read in one statement, and then
// what follows in those that have moved. A round begins when a server has written one of the orgs, this one or another that says so, and in
// any case each second. Without streams, nothing is read.
import { type LogTail, type TailDependencies, createLogTail } from "./log-tail.ts";
import { createRounds } from "./rounds.ts";
import { readHeads } from "./store.ts";
import { streamEnded } from "./stream-ended.ts";
import type { Watcher } from "./watcher.ts";

export interface Watches {
  /**
   * Sends a watcher what follows the returned revision, which is that of the head or later.
   *
   * @throws ServiceError PERMISSION_DENIED, TOKEN_INVALID, RESOURCE_NOT_FOUND; STREAM_ENDED when the server stops.
   */
  readonly join: (watcher: Watcher) => Promise<string>;
  readonly leave: (watcher: Watcher) => void;
  /** How many streams are open. */
  readonly count: () => number;
  /** Ends all streams, and those that begin later. */
  readonly close: () => void;
}

interface WatchesOptions extends TailDependencies {
  /** The time between two rounds, in milliseconds, if nothing says that an org was written. */
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

export function createWatches(options: WatchesOptions): Watches {
  const { database, pollMs, onError } = options;
  const tails = new Map<string, LogTail>();
  const open = new Set<Watcher>();
  const followed = createFollowed();
  let stopLooking: (() => void) | undefined;
  let isClosed = false;

  const rounds = createRounds(async () => {
    if (open.size === 0) return false;
    const heads = await readHeads(database, followed.orgIds());
    const more = await Promise.all([...tails.values()].map((tail) => tail.advance(heads)));
    return more.includes(true);
  }, onError);

  const startLooking = (): (() => void) => {
    const timer = setInterval(() => rounds.want(), pollMs).unref();
    const unlisten = database.hints.listen((orgIds) => {
      if (orgIds === undefined || orgIds.some(followed.has)) rounds.want();
    });
    return () => {
      clearInterval(timer);
      unlisten();
    };
  };

  const leave = (watcher: Watcher): void => {
    if (!open.delete(watcher)) return;
    followed.remove(orgIdsOf(watcher));
    tails.get(watcher.orgId)?.leave(watcher);
    if (!followed.has(watcher.orgId)) tails.delete(watcher.orgId);
    if (open.size > 0) return;
    stopLooking?.();
    stopLooking = undefined;
  };

  database.commits.subscribe(({ orgId }) => {
    database.hints.send(orgId);
    if (followed.has(orgId)) rounds.want();
  }, onError);

  return {
    async join(watcher) {
      if (isClosed) throw streamEnded("SHUTDOWN");
      open.add(watcher);
      followed.add(orgIdsOf(watcher));
      stopLooking ??= startLooking();
      const tail = tails.get(watcher.orgId) ?? createLogTail(watcher.orgId, options);
      tails.set(watcher.orgId, tail);
      try {
        return await tail.join(watcher, await readHeads(database, orgIdsOf(watcher)));
      } catch (error) {
        leave(watcher);
        throw error;
      }
    },

    leave,
    count: () => open.size,

    close() {
      isClosed = true;
      for (const watcher of open) watcher.queue.end(streamEnded("SHUTDOWN"));
    },
  };
}

function orgIdsOf({ orgId, otherOrgIds }: Watcher): readonly string[] {
  return [orgId, ...otherOrgIds];
}

/** Counts how many watchers need the head of an org. */
function createFollowed() {
  const counts = new Map<string, number>();
  return {
    orgIds: (): readonly string[] => [...counts.keys()],
    has: (orgId: string): boolean => counts.has(orgId),
    add(orgIds: readonly string[]): void {
      for (const orgId of orgIds) counts.set(orgId, (counts.get(orgId) ?? 0) + 1);
    },
    remove(orgIds: readonly string[]): void {
      for (const orgId of orgIds) {
        const count = (counts.get(orgId) ?? 0) - 1;
        if (count > 0) counts.set(orgId, count);
        else counts.delete(orgId);
      }
    },
  };
}
