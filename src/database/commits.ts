// What follows a commit subscribes here: `transact` tells it what the transaction has appended to change logs.
import type { Insertable } from "kysely";
import type { Changes } from "./log-tables.ts";

/** A row of `changes`, of which nothing is erased. What PostgreSQL stores as JSON is an object here. */
export type Entry = Omit<Insertable<Changes>, "before" | "after" | "erased"> & {
  readonly before: object | null;
  readonly after: object | null;
};

/** What this server has committed in an org, or in the log of a customer. */
export interface Committed {
  /** The id of the org; of the customer, if it is the log of that. */
  readonly orgId: string;
  /** The revision of the org when it was locked; undefined if the org is new. */
  readonly before: string | undefined;
  /** Those of the revisions after that, in order. There is at least one. */
  readonly entries: readonly Entry[];
  /** A time before the commit at which the org was locked, by `performance.now()`: nobody else can have written before that. */
  readonly lockedAt: number;
  /** Whether any server listened for hints when the lock of the org was asked for. */
  readonly is_watched: boolean;
  /** Whether the org, or its customer, had a webhook that delivers when its lock was asked for. */
  readonly has_webhooks: boolean;
  /** The same of an event stream that is pushed. */
  readonly has_event_streams: boolean;
}

export interface Commits {
  /**
   * Calls a function after each commit, before the writes are answered, for each org that was written, in the order of the writes.
   *
   * @param onFailed called with what the function throws: what is committed must be answered.
   * @returns a function that ends this.
   */
  subscribe(follow: (committed: Committed) => void, onFailed: (error: unknown) => void): () => void;
  tell(committed: readonly Committed[]): void;
}

export function createCommits(): Commits {
  const subscribers = new Set<(committed: Committed) => void>();
  return {
    subscribe(follow, onFailed) {
      const tellSafely = (committed: Committed): void => {
        try {
          follow(committed);
        } catch (error) {
          onFailed(error);
        }
      };
      subscribers.add(tellSafely);
      return () => void subscribers.delete(tellSafely);
    },
    tell(committed) {
      for (const each of committed) for (const subscriber of subscribers) subscriber(each);
    },
  };
}
