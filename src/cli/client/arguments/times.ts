import { CommandError } from "../command-error.ts";
import { escapeText } from "../output/escape-text.ts";

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** What a day means as a time: something that ends on a day is there for the whole of it. */
export type DayEdge = "beginning" | "end";

/** What `90d` means as a time. */
export type Direction = "from now" | "ago";

/** Reads a time: one of RFC 3339, a day in UTC, or how long from now, or ago: `90d`. */
export function parseTime(text: string, now: number, flag: string, edge: DayEdge, direction: Direction): string {
  const seconds = secondsOf(text);
  const sign = direction === "ago" ? -1 : 1;
  const time = seconds === undefined ? readTime(text, edge) : formatTime(now + sign * seconds * 1_000);
  if (time !== undefined) return time;
  throw new CommandError(
    `${flag} must be a time such as 2030-01-31T17:00:00Z, a day such as 2030-01-31 (its ${edge}, in UTC), or how long ${direction}, such as 12h or 90d, got ${JSON.stringify(text)}`,
  );
}

/** A moment of the past, by one of the two. */
interface Moment {
  readonly revision?: string;
  readonly time?: string;
}

/** Reads a revision, or a time in the past: one of RFC 3339, a day, or how long ago: `90d`. */
export function parseMoment(text: string, now: number, flag: string): Moment {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return { revision: text };
  const seconds = secondsOf(text);
  const time = seconds === undefined ? readTime(text) : formatTime(now - seconds * 1_000);
  if (time !== undefined) return { time };
  throw new CommandError(
    `${flag} takes a revision, a time such as 2026-03-01T12:00:00Z, or how long ago, such as 2d, got ${JSON.stringify(text)}`,
    { next: "tenantry changes --columns revision,time,resource_path" },
  );
}

/** Returns undefined for a time of which there is no date. */
function formatTime(ms: number): string | undefined {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Reads a duration as JSON has it: `5m` is `300s`. */
export function parseDuration(text: string, flag: string): string {
  const seconds = secondsOf(text);
  if (seconds !== undefined) return `${seconds}s`;
  throw new CommandError(`${flag} must be a duration such as 30s, 5m, 12h or 7d, got ${JSON.stringify(text)}`);
}

function readTime(text: string, edge: DayEdge = "beginning"): string | undefined {
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  if (!isTime || Number.isNaN(Date.parse(text))) return undefined;
  return text.length === 10 ? edgeOf(text, edge) : text;
}

const dayMs = 86_400_000;

/** Returns undefined for a day that the calendar does not have, which would be taken for a later one. */
function edgeOf(day: string, edge: DayEdge): string | undefined {
  const start = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(start) || !new Date(start).toISOString().startsWith(day)) return undefined;
  const [date = ""] = new Date(edge === "end" ? start + dayMs : start).toISOString().split("T");
  return `${date}T00:00:00Z`;
}

function secondsOf(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,9}(?:\.\d{1,9})?)([smhdw])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (unitSeconds[unit] ?? 1);
}

const ages: readonly (readonly [seconds: number, unit: string])[] = [
  [365 * 86_400, "y"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
];

/** Returns how long ago a time is, `3d`, or how long from now, `in 3d`. */
export function formatAge(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1_000;
  if (Number.isNaN(seconds)) return escapeText(time);
  const far = Math.abs(seconds);
  const [unitLength, unit] = ages.find(([length]) => far >= (length === 1 ? 0 : 2 * length)) ?? [1, "s"];
  const text = `${Math.floor(far / unitLength)}${unit}`;
  return seconds < -1 ? `in ${text}` : text;
}
