// What the console tells people of what they have done, wherever they are by then.
import type { ReactNode } from "react";

export interface Notice {
  readonly id: number;
  readonly text: ReactNode;
}

export interface Notices {
  readonly say: (text: ReactNode) => void;
  readonly dismiss: (id: number) => void;
  readonly snapshot: () => readonly Notice[];
  readonly subscribe: (listener: () => void) => () => void;
}

/** The most that are shown at once. */
const limit = 3;

export function createNotices(): Notices {
  let notices: readonly Notice[] = [];
  let last = 0;
  const listeners = new Set<() => void>();
  const set = (next: readonly Notice[]): void => {
    notices = next;
    for (const listener of listeners) listener();
  };
  return {
    say(text) {
      last += 1;
      set([...notices, { id: last, text }].slice(-limit));
    },
    dismiss: (id) => set(notices.filter((notice) => notice.id !== id)),
    snapshot: () => notices,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
