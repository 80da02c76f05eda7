// How much time has passed since a moment, for what must not look younger than it is. This process's own clock is steady, but stands still while the
// machine is suspended. The clock of the machine goes on, but can be set. So what that one jumps ahead counts, too, and what it jumps back does not.

export interface AgeClock {
  /** Compares the clocks, and returns the time of this process's own one. A jump is found between two of these. */
  readonly observe: () => number;
  /** Returns how many milliseconds have passed, at least, from one moment to another one, both by this process's own clock. */
  readonly elapsed: (from: number, to: number) => number;
}

/** What the clock of the machine jumped ahead, at some moment between two observations. */
interface Jump {
  readonly after: number;
  readonly until: number;
  readonly ms: number;
}

/** A process that had to wait between reading both clocks has seen no jump. */
const leastJumpMs = 100;

/** How many jumps are told apart. The oldest ones become one. */
const maxJumps = 100;

/** The clocks that are compared, in milliseconds. */
export interface Clocks {
  /** That of the machine. */
  readonly wall: () => number;
  /** This process's own one. */
  readonly steady: () => number;
}

const usualClocks: Clocks = { wall: Date.now, steady: () => performance.now() };

export function createAgeClock({ wall, steady }: Clocks = usualClocks): AgeClock {
  const jumps: Jump[] = [];
  let observedAt = steady();
  let aheadMs = wall() - observedAt;

  const note = (jump: Jump): void => {
    jumps.push(jump);
    if (jumps.length <= maxJumps) return;
    const [first, second] = jumps.splice(0, 2);
    if (first !== undefined && second !== undefined)
      jumps.unshift({ after: first.after, until: second.until, ms: first.ms + second.ms });
  };

  return {
    observe() {
      const now = steady();
      const nowAheadMs = wall() - now;
      const ms = nowAheadMs - aheadMs;
      if (ms >= leastJumpMs) note({ after: observedAt, until: now, ms });
      if (ms >= leastJumpMs || ms < 0) aheadMs = nowAheadMs;
      observedAt = now;
      return now;
    },

    elapsed(from, to) {
      if (to <= from) return 0;
      let ms = to - from;
      for (const jump of jumps) if (jump.until > from && jump.after < to) ms += jump.ms;
      return ms;
    },
  };
}

/** Creates a clock that is steady, and that also goes on while the machine is suspended. Its times are comparable with its own only. */
export function createElapsedClock(clocks?: Clocks): () => number {
  const clock = createAgeClock(clocks);
  const startedAt = clock.observe();
  return () => clock.elapsed(startedAt, clock.observe());
}
