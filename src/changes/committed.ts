import type { Entry } from "./entries.ts";

/** What this server has committed in an org. */
export interface Committed {
  readonly orgId: string;
  /** The revision of the org when it was locked. */
  readonly before: string;
  /** Those of the revisions after that, in order. */
  readonly entries: readonly Entry[];
  /** A time before the commit at which the org was locked, by `performance.now()`: nobody else can have written before that. */
  readonly lockedAt: number;
}
