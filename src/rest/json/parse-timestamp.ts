const longestMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Parses the usual form of a time in RFC 3339: `2026-01-31T12:00:00Z`, with an optional fraction of up to nine digits.
 *
 * @returns undefined for all other text, including valid times with offsets, on leap days or before the year 100.
 */
export function parseTimestamp(text: string): { readonly seconds: bigint; readonly nanos: number } | undefined {
  const end = text.length - 1;
  const isUsual =
    end >= 19 &&
    text[4] === "-" &&
    text[7] === "-" &&
    text[10] === "T" &&
    text[13] === ":" &&
    text[16] === ":" &&
    text[end] === "Z";
  if (!isUsual) return undefined;
  const year = readDigits(text, 0, 4);
  const month = readDigits(text, 5, 7);
  const day = readDigits(text, 8, 10);
  const hour = readDigits(text, 11, 13);
  const minute = readDigits(text, 14, 16);
  const second = readDigits(text, 17, 19);
  const nanos = readFraction(text, end);
  const lastDay = longestMonths[month - 1];
  const isInRange =
    year >= 100 && lastDay !== undefined && day >= 1 && day <= lastDay && hour <= 23 && minute <= 59 && second <= 59;
  if (!isInRange || Number.isNaN(nanos)) return undefined;
  return { seconds: BigInt(Date.UTC(year, month - 1, day, hour, minute, second) / 1000), nanos };
}

/**
 * Returns whether a text names a day that the calendar does not have, or the hour 24, which RFC 3339 rejects. `Date` accepts
 * them and continues into the next month or day: 2027-02-30 becomes 2 March. Returns false for a text in any other form.
 */
export function rollsOver(text: string): boolean {
  const [, year, month, day, hour] = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):/.exec(text) ?? [];
  if (year === undefined) return false;
  const lastDay = new Date(0);
  // Day 0 of the next month. The years before 100 need this method: others add 1900 to them.
  lastDay.setUTCFullYear(Number(year), Number(month), 0);
  return Number(day) > lastDay.getUTCDate() || Number(hour) > 23;
}

/** @returns nanoseconds; NaN unless the fraction is absent or is a point followed by one to nine digits. */
function readFraction(text: string, end: number): number {
  if (end === 19) return 0;
  if (text[19] !== "." || end < 21 || end > 29) return Number.NaN;
  return readDigits(text, 20, end) * 10 ** (29 - end);
}

/** @returns NaN if a character is not a digit. */
function readDigits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}
