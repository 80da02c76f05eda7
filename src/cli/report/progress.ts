import type { Kind } from "../plan/creation.ts";
import { plural } from "../plural.ts";

export interface Progress {
  start(kind: Kind, total: number): void;
  advance(): void;
  end(): void;
  /** Prints a message between progress updates. */
  note(text: string): void;
}

/** A terminal, or a file or pipe. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const redrawMs = 50;
/** How often a line is written where none is rewritten, in milliseconds. */
export const lineMs = 5_000;
/** Erases the line of a terminal, to write it again. */
export const eraseLine = "\r\u001b[2K";

/**
 * Creates a progress display. On a terminal, it is a line that is rewritten in place and erased at the end; otherwise it prints
 * a line for each kind, and one every few seconds.
 */
export function createProgress(stream: ProgressStream, now: () => number = Date.now): Progress {
  let line = "";
  let total = 0;
  let done = 0;
  let label = "";
  let shownAt = 0;

  const show = (): void => {
    shownAt = now();
    line = `${label} ${done}/${total}`;
    stream.write(stream.isTTY ? `${eraseLine}${line}` : `${line}\n`);
  };

  return {
    start(kind, count) {
      [label, total, done, shownAt] = [plural(kind), count, 0, now()];
      if (stream.isTTY && total > 0) show();
    },
    advance() {
      done++;
      if (now() - shownAt >= (stream.isTTY ? redrawMs : lineMs)) show();
    },
    end() {
      if (total === 0) return;
      if (stream.isTTY) stream.write(eraseLine);
      else show();
      line = "";
    },
    note(text) {
      stream.write(stream.isTTY ? `${eraseLine}${text}\n${line}` : `${text}\n`);
    },
  };
}
