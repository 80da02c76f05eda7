import type { Found } from "./periodic-job.ts";

/** When something can be worked on, and the time when that was read, by the database's clock in milliseconds. */
export interface Due {
  readonly dueMs: number;
  readonly nowMs: number;
}

/** Returns the items that are due, and when the next one is. @param rows the earliest first. */
export function splitDue<Item extends Due>(rows: readonly Item[]): Found<Item> {
  const items = rows.filter(({ dueMs, nowMs }) => dueMs <= nowMs);
  const next = rows[items.length];
  return next === undefined ? { items } : { items, nextInMs: next.dueMs - next.nowMs };
}
