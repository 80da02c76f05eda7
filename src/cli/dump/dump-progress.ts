import type { TableEnd } from "../../database/dump/manifest.ts";
import { type ProgressStream, eraseLine, lineMs } from "../report/progress.ts";

export interface RowProgress {
  readonly advance: (table: string, bytes: number) => void;
  readonly end: (table: string, end: TableEnd) => void;
  readonly step: (what: string) => void;
  /** Erases what is rewritten in place. */
  readonly close: () => void;
}

const redrawMs = 100;

/** Shows which table is copied: on a terminal in a line that is rewritten in place, otherwise in a line every few seconds. */
export function createRowProgress(stream: ProgressStream, now: () => number = Date.now): RowProgress {
  let shownAt = now();
  let rows = 0;

  const show = (text: string, isDue: boolean): void => {
    if (!isDue && now() - shownAt < (stream.isTTY === true ? redrawMs : lineMs)) return;
    shownAt = now();
    stream.write(stream.isTTY === true ? `${eraseLine}${text}` : `${text}\n`);
  };

  return {
    advance: (table, bytes) => show(`${table}: ${formatBytes(bytes)}`, false),
    end(table, end) {
      rows += end.rows;
      show(`${table}: done; ${rows} rows so far`, false);
    },
    step: (what) => show(what, true),
    close: () => void (stream.isTTY === true && stream.write(eraseLine)),
  };
}

/** Returns a number of bytes for people: `12.3 MB`. */
export function formatBytes(bytes: number): string {
  const [unit, size] =
    bytes < 1e6 ? (["kB", 1e3] as const) : bytes < 1e9 ? (["MB", 1e6] as const) : (["GB", 1e9] as const);
  return `${(bytes / size).toFixed(1)} ${unit}`;
}
