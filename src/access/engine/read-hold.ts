/** Keeps a snapshot as it is while it is read in steps. Reads in one turn of the event loop need no hold. */
export interface ReadHold {
  /**
   * Keeps changes back until the returned function is called. Waits for changes that wait, so that reads do not keep them back
   * for ever. A reader holds one snapshot at a time.
   */
  readonly hold: () => Promise<() => void>;
  readonly isHeld: () => boolean;
  /** Makes a change when nobody holds the snapshot: at once, unless somebody does. */
  readonly change: <Result>(make: () => Result) => Result | Promise<Result>;
}

export function createReadHold(): ReadHold {
  let holders = 0;
  let changes = 0;
  const isHeld = (): boolean => holders > 0;
  const isWanted = (): boolean => changes > 0;
  let sleeping: (() => void)[] = [];
  const wake = (): void => {
    const all = sleeping;
    sleeping = [];
    for (const each of all) each();
  };
  const sleep = (): Promise<void> => new Promise((resolve) => sleeping.push(resolve));

  const changeLater = async <Result>(make: () => Result): Promise<Result> => {
    changes++;
    try {
      while (isHeld()) await sleep();
      return make();
    } finally {
      changes--;
      wake();
    }
  };

  return {
    isHeld,
    async hold() {
      while (isWanted()) await sleep();
      holders++;
      return () => {
        holders--;
        wake();
      };
    },
    change: (make) => (isHeld() ? changeLater(make) : make()),
  };
}
