import pg from "pg";

/** The parser of pg returns a number for `infinity`. */
const parseAnyTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date | number;

/**
 * Parses a `timestamptz` from the text of a result. It takes a tenth of the time of the parser of pg for times in UTC of the years 100 to
 * 9999, as in `2026-11-22 02:30:22.123+00`; others are left to that parser. Times are truncated to milliseconds.
 */
export function parseTimestamp(text: string): Date | number {
  const { length } = text;
  const isUsual =
    length >= 22 &&
    length <= 29 &&
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(10) === 32 &&
    (length === 22 || text.charCodeAt(19) === 46) &&
    text.endsWith("+00");
  const year = isUsual ? numberAt(text, 0, 4) : 0;
  if (year < 100) return parseAnyTimestamp(text);
  const digits = Math.min(Math.max(length - 23, 0), 3);
  const ms = numberAt(text, 20, 20 + digits) * (1000 / 10 ** digits);
  const month = numberAt(text, 5, 7) - 1;
  const day = numberAt(text, 8, 10);
  const hour = numberAt(text, 11, 13);
  const minute = numberAt(text, 14, 16);
  return new Date(Date.UTC(year, month, day, hour, minute, numberAt(text, 17, 19), ms));
}

function numberAt(text: string, start: number, end: number): number {
  let number = 0;
  for (let index = start; index < end; index++) number = number * 10 + text.charCodeAt(index) - 48;
  return number;
}
