// All streams of changes of a server. They are served in rounds: the heads of the logs that are watched are read in one statement, and then
// what follows in those that have moved. A round begins when a server has written one of the orgs, this one or another that says so, and in
// any case each second. Without streams, nothing is read.
import { type Joined, type LogTail, createLogTail } from "./log-tail.ts";
import { createRounds } from "./rounds.ts";
import { type FollowedHeads, readHeads } from "./store.ts";
import { streamEnded } from "./stream-ended.ts";
import type { TailDependencies } from "./tail-state.ts";
import type { Watcher } from "./watcher.ts";

export interface Watches {
  /**
   * Sends a watcher what follows the returned end of the log, which is the head or later.
   *
   * @throws ServiceError PERMISSION_DENIED, TOKEN_INVALID, RESOURCE_NOT_FOUND; STREAM_ENDED when the server stops.
   */
  readonly join: (watcher: Watcher) => Promise<Joined>;
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
  const { database, onError } = options;
  const tails = new Map<string, LogTail>();
  const open = new Set<Watcher>();
  const followed = createFollowed();
  let stopLooking: (() => void) | undefined;
  let isClosed = false;

  const rounds = createRounds(async () => {
    if (open.size === 0) return;
    // Those that are added meanwhile are of orgs that the heads may not have.
    const looking = [...tails].filter(([orgId]) => followed.has(orgId));
    const heads = await readHeads(database, followed.orgIds());
    for (const [, tail] of looking) void advance(tail, heads);
  }, onError);
  const advance = createAdvance(() => rounds.want(), onError);

  /** Another tail of the org would read its snapshot besides this one. */
  const dropUnused = (orgId: string): void => {
    if (!followed.has(orgId) && tails.get(orgId)?.isJoined() !== true) tails.delete(orgId);
  };

  const leave = (watcher: Watcher): void => {
    if (!open.delete(watcher)) return;
    followed.remove(orgIdsOf(watcher));
    tails.get(watcher.orgId)?.leave(watcher);
    dropUnused(watcher.orgId);
    if (open.size > 0) return;
    stopLooking?.();
    stopLooking = undefined;
  };

  database.commits.subscribe(({ orgId, is_watched: isWatched }) => {
    if (isWatched) database.hints.send(orgId);
    if (followed.has(orgId)) rounds.want();
  }, onError);

  return {
    async join(watcher) {
      if (isClosed) throw streamEnded("SHUTDOWN");
      open.add(watcher);
      followed.add(orgIdsOf(watcher));
      stopLooking ??= startLooking(options, followed.has, rounds.want);
      const tail = tails.get(watcher.orgId) ?? createLogTail(watcher.orgId, options);
      tails.set(watcher.orgId, tail);
      try {
        return await tail.join(watcher, () => readHeads(database, followed.orgIds()));
      } catch (error) {
        leave(watcher);
        throw error;
      } finally {
        dropUnused(watcher.orgId);
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

/** Wants rounds, until the returned function is called. @param has whether an org is followed. */
function startLooking(
  { database, pollMs }: WatchesOptions,
  has: (orgId: string) => boolean,
  want: () => void,
): () => void {
  const timer = setInterval(want, pollMs).unref();
  const unlisten = database.hints.listen((orgIds) => {
    if (orgIds === undefined || orgIds.some(has)) want();
  });
  return () => {
    clearInterval(timer);
    unlisten();
  };
}

/**
 * Creates a function that advances a tail without that the others wait for it.
 *
 * @param again called when it is to be advanced again.
 */
function createAdvance(again: () => void, onError: (error: unknown) => void) {
  const busy = new Set<LogTail>();
  const behind = new Set<LogTail>();
  return async (tail: LogTail, heads: FollowedHeads): Promise<void> => {
    if (busy.has(tail)) {
      behind.add(tail);
      return;
    }
    busy.add(tail);
    try {
      if (await tail.advance(heads)) behind.add(tail);
    } catch (error) {
      onError(error);
    }
    busy.delete(tail);
    if (behind.delete(tail)) again();
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
