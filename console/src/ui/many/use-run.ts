import { useEffect, useRef, useState } from "react";
import { type Nouns, manyTexts } from "../../texts/many-texts.ts";
import type { ManyAction } from "./many-action.ts";
import { type Outcome, isWhole, runEach } from "./run-each.ts";

/** Does something to rows, in one call or in one for each, and keeps how far that is. */
export function useRun<Row>({ done, run }: ManyAction<Row>, rows: readonly Row[], nouns: Nouns) {
  const [tried, setTried] = useState<number>();
  const [running, setRunning] = useState(false);
  const [stopping, setStopping] = useState(false);
  const { stopped, left } = useStopped();
  // The form reads again what screens show before it closes.
  const ended = useRef<Outcome<Row>>(undefined);
  const begin = async (data: FormData): Promise<void> => {
    if ("together" in run) {
      await run.together(rows, data);
      ended.current = { total: rows.length, done: rows.length, failures: [], left: [] };
      return;
    }
    setTried(0);
    setRunning(true);
    ended.current = await runEach(
      rows,
      (row) => run.each(row, data),
      () => stopped.current,
      setTried,
    );
    setRunning(false);
  };
  return {
    /** How many rows have been tried; undefined before it begins, and where it is one call. */
    tried,
    /** Whether it goes on, in a call for each. */
    running,
    stopping,
    ended,
    begin,
    /** The one that has begun ends before anything else happens. */
    stop: (): void => {
      stopped.current = true;
      setStopping(true);
    },
    /** Returns what is said of it on whatever screen the person is by then; undefined where the dialog says more. */
    said: (): string | undefined => {
      if (ended.current === undefined) return undefined;
      if (isWhole(ended.current)) return manyTexts.done(done, rows.length, nouns);
      return left.current ? manyTexts.leftAt(done, ended.current.done, rows.length, nouns) : undefined;
    },
  };
}

/** Whether somebody has stopped what goes on, or has opened another screen. */
function useStopped() {
  const [stopped, left] = [useRef(false), useRef(false)];
  useEffect(() => {
    stopped.current = false;
    left.current = false;
    return () => {
      stopped.current = true;
      left.current = true;
    };
  }, [stopped, left]);
  return { stopped, left };
}
