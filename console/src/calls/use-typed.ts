import { useDeferredValue, useEffect, useState } from "react";

/** How long somebody must have stopped to type before the service searches. */
const pauseMs = 150;

/** Returns what is typed, what of it is settled and worth a search, and how to change it. */
export function useTyped(initial = ""): readonly [string, string, (text: string) => void] {
  const [typed, setTyped] = useState(initial);
  const [settled, setSettled] = useState(initial);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, useDeferredValue(settled), setTyped];
}
