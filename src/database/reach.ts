// Whether the database can be reached, as its lookups show: each call has one. That one connection breaks does not decide it: when a lookup
// fails as if the database was gone, the database is asked. If that fails in the same way, it is away until it answers anything, and is asked again
// and again.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Database } from "./database.ts";
import { isDatabaseGone, isDatabaseUnavailable } from "./failure.ts";

export interface DatabaseReach {
  /** The database, whose lookups are watched. */
  readonly database: Database;
  readonly isAway: () => boolean;
  /** Returns whether the database is away, if a lookup has failed with this error. */
  readonly confirmAway: (error: unknown) => Promise<boolean>;
  /** Notes that a call was answered without it. */
  readonly noteAnswerAway: () => void;
  /** How many calls were answered without it. */
  readonly answersAway: () => number;
  /** For how long nothing has been answered, in milliseconds, if the database is away; otherwise 0. */
  readonly awayMs: () => number;
  readonly close: () => void;
}

interface ReachOptions {
  readonly onAway: (error: unknown) => void;
  /**
   * @param awayMs for how long nothing was answered.
   * @param calls how many calls were answered without the database meanwhile.
   */
  readonly onReturn: (awayMs: number, calls: number) => void;
  /** Returns milliseconds, also of the time in which the machine is suspended. */
  readonly clock: () => number;
}

/** How long an answer may take by which the database is found to be there. */
const askedMs = 2_000;

/** The time from one question to the next while the database is away. */
const pauseMs = 500;

/** How soon it fails to ask on a connection that is breaking, and how long it takes until none of these is left. */
const breakingMs = 1_000;
const brokenMs = 100;

export function createDatabaseReach(database: Database, { onAway, onReturn, clock }: ReachOptions): DatabaseReach {
  let isAway = false;
  let answeredAt = clock();
  let asking: Promise<void> | undefined;
  let next: NodeJS.Timeout | undefined;
  let isClosed = false;
  let answersAway = 0;
  let answersBefore = 0;

  const noteAnswer = (): void => {
    const awayMs = clock() - answeredAt;
    answeredAt = clock();
    if (!isAway) return;
    isAway = false;
    clearTimeout(next);
    onReturn(awayMs, answersAway - answersBefore);
  };

  const noteGone = (error: unknown): void => {
    if (isAway || isClosed) return;
    isAway = true;
    answersBefore = answersAway;
    onAway(error);
  };

  /** Asks the database, once for all that want to know, and again while it is away. */
  const ask = (): Promise<void> =>
    (asking ??= (isAway ? database.requireWritable(askedMs) : askPatiently(database))
      .then(noteAnswer, (error: unknown) => {
        if (isDatabaseGone(error)) noteGone(error);
        // A refusal is an answer. Whoever has waited for a connection knows nothing.
        else if (!isDatabaseUnavailable(error) || error instanceof pg.DatabaseError) noteAnswer();
      })
      .finally(() => {
        asking = undefined;
        if (isAway && !isClosed) next = setTimeout(() => void ask(), pauseMs).unref();
      }));

  const watch = async <Result>(lookup: Promise<Result>): Promise<Result> => {
    try {
      const result = await lookup;
      noteAnswer();
      return result;
    } catch (error) {
      if (!isAway && isDatabaseGone(error)) void ask();
      throw error;
    }
  };

  return {
    database: {
      ...database,
      readPrepared: (...lookup) => watch(database.readPrepared(...lookup)),
      requireWritable: (withinMs) => watch(database.requireWritable(withinMs)),
    },
    isAway: () => isAway,
    async confirmAway(error) {
      if (!isDatabaseGone(error)) return false;
      if (!isAway) await ask();
      return isAway;
    },
    noteAnswerAway: () => void answersAway++,
    answersAway: () => answersAway,
    awayMs: () => (isAway ? clock() - answeredAt : 0),
    close() {
      isClosed = true;
      clearTimeout(next);
    },
  };
}

/** Asks the database, and once more if that fails soon: when a server has ended many connections, some may still look open. */
async function askPatiently(database: Database): Promise<void> {
  const startedAt = performance.now();
  try {
    await database.requireWritable(askedMs);
  } catch (error) {
    if (!isDatabaseGone(error) || performance.now() - startedAt > breakingMs) throw error;
    await sleep(brokenMs);
    await database.requireWritable(askedMs);
  }
}
