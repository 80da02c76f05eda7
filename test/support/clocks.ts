import type { Clocks } from "../../src/database/age-clock.ts";

/** The clocks of a machine that a test moves, in milliseconds. */
export interface TestClocks extends Clocks {
  /** Lets time pass. */
  readonly pass: (ms: number) => void;
  /** Sets the clock of the machine, ahead as if it had been suspended, or back. */
  readonly set: (ms: number) => void;
}

export function createTestClocks(): TestClocks {
  let [wallMs, steadyMs] = [1_000_000, 1_000];
  return {
    wall: () => wallMs,
    steady: () => steadyMs,
    pass: (ms) => void ([wallMs, steadyMs] = [wallMs + ms, steadyMs + ms]),
    set: (ms) => void (wallMs += ms),
  };
}
