// Holds back who leaves a screen until they have answered whether they want to.
import { useBlocker, useRouter } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";

type Answer = "leave" | "stay";

interface Asked {
  /** Whether the browser shows the other address already, as it does after Back and Forward. */
  readonly isAway: boolean;
  readonly answer: (given: Answer) => void;
}

/**
 * Back and Forward can be pressed again while the question is open. The answer is then about where the address has come to, since the
 * router goes back from there; it is asked nothing where the address is that of the screen again.
 */
export function useLeave(running: boolean) {
  const { history } = useRouter();
  const asked = useRef<Asked>(undefined);
  const [isAsked, setIsAsked] = useState(false);
  const end = useCallback((): Asked | undefined => {
    const ended = asked.current;
    asked.current = undefined;
    setIsAsked(false);
    return ended;
  }, []);
  const answer = useCallback((given: Answer): void => end()?.answer(given), [end]);
  const shouldBlockFn = useCallback(
    ({ action }: { readonly action: string }): boolean | Promise<boolean> => {
      const isAway = action !== "PUSH" && action !== "REPLACE";
      const before = end();
      if (before !== undefined && !(before.isAway && isAway)) before.answer("stay");
      if (isAway && keyOf(window.history.state) === keyOf(history.location.state)) return false;
      setIsAsked(true);
      return new Promise((resolve) => {
        asked.current = { isAway, answer: (given) => resolve(given === "stay") };
      });
    },
    [end, history],
  );
  // The browser asks where it leaves the console.
  useBlocker({ shouldBlockFn, enableBeforeUnload: running, disabled: !running });
  // It has ended meanwhile, and the screen says how.
  useEffect(() => (running ? () => answer("stay") : undefined), [running, answer]);
  return { isAsked, answer };
}

/** Returns what the router calls an entry of the browser's history. */
const keyOf = (state: unknown): unknown => (state as Readonly<Record<string, unknown>> | null)?.["__TSR_key"];
