import { useState } from "react";

interface Reading {
  /** The step that is read: the last one, until another is chosen. */
  readonly index: number;
  readonly isChosen: boolean;
  /** Chooses a step; undefined for none. */
  readonly read: (index: number | undefined) => void;
}

/** Keeps which step of a chart somebody reads. */
export function useReading(count: number): Reading {
  const [chosen, setChosen] = useState<number>();
  const last = Math.max(0, count - 1);
  return { index: Math.min(chosen ?? last, last), isChosen: chosen !== undefined, read: setChosen };
}
