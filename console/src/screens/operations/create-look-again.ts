// How often a visible screen asks how far providers are: claims and progress are not in the log that screens follow. A window that
// nobody sees asks nothing.
import { isFinal } from "../../calls/is-final.ts";

/** What is moving is asked for so often. */
const shortestMs = 2_000;

/** What does not move, at least so often. What ends is in the log of its org, so it is read again at once nevertheless. */
const longestMs = 60_000;

/** So many answers that say the same double the time to the next one. */
const patience = 3;

export interface Asked<Data> {
  readonly state: { readonly data: Data | undefined; readonly error: unknown; readonly dataUpdateCount: number };
}

/** Returns when to ask again: soon while something moves, ever later while nothing does, as far as the person may still see it. */
export function createLookAgain<Data>(isUnderWay: (data: Data) => boolean): (asked: Asked<Data>) => number | false {
  /** What was said last, and how many answers there had been when it was said first. An answer that says the same is the same object. */
  let last: { readonly data: Data; readonly since: number } | undefined;
  return ({ state: { data, error, dataUpdateCount } }) => {
    if (data === undefined || !isUnderWay(data) || isFinal(error)) return false;
    if (last?.data !== data) last = { data, since: dataUpdateCount };
    return Math.min(shortestMs * 2 ** Math.floor((dataUpdateCount - last.since) / patience), longestMs);
  };
}
