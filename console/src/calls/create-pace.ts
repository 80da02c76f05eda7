// How often a screen reads again what it shows while what is below it changes.

interface Pace {
  /** How long to wait after a quiet time. */
  readonly soonMs: number;
  /** Between two times that all is read, where changes have just begun to go on. */
  readonly shortestMs: number;
  /** Between them, however long changes go on. */
  readonly longestMs: number;
}

/**
 * Returns how long to wait until all that is shown is read again, each time that something has changed and nothing waits already: less often
 * the longer changes go on, so that a busy place is not read for each of its changes.
 */
export function createPace({ soonMs, shortestMs, longestMs }: Pace): (now: number) => number {
  let pause = shortestMs;
  let readAt = -Infinity;
  return (now) => {
    const since = now - readAt;
    pause = since > 2 * pause ? shortestMs : Math.min(pause * 2, longestMs);
    const wait = Math.max(soonMs, pause - since);
    readAt = now + wait;
    return wait;
  };
}
