const longestMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Reads the usual form of a time in RFC 3339: `2026-01-31T12:00:00Z`, with up to nine digits after a point.
 *
 * @returns undefined for all else, such as offsets, leap days, times before the year 100, and what is no time.
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

/** @returns NaN when it is no point and one to nine digits, or nothing. */
function readFraction(text: string, end: number): number {
  if (end === 19) return 0;
  if (text[19] !== "." || end < 21 || end > 29) return Number.NaN;
  return readDigits(text, 20, end) * 10 ** (29 - end);
}

/** @returns NaN when one is no digit. */
function readDigits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}
