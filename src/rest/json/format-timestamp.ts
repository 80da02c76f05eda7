const secondsPerDay = 86_400;

/** The range of google/protobuf/timestamp.proto: from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/**
 * Creates a function that formats a google.protobuf.Timestamp as RFC 3339, with 0, 3, 6 or 9 fractional digits. It caches
 * the last date, since the times in one response are often on the same day.
 *
 * The function takes seconds since 1970 and nanoseconds, both integers, and returns undefined if they are out of range.
 */
export function createTimestampFormatter(): (seconds: number, nanos: number) => string | undefined {
  let lastDay = Number.NaN;
  let lastDate = "";
  return (seconds, nanos) => {
    if (!(seconds >= firstSecond && seconds <= lastSecond && nanos >= 0 && nanos <= 999_999_999)) return undefined;
    const day = Math.floor(seconds / secondsPerDay);
    if (day !== lastDay) {
      lastDate = new Date(day * secondsPerDay * 1000).toISOString().slice(0, 11);
      lastDay = day;
    }
    const second = seconds - day * secondsPerDay;
    const hour = twoDigits[Math.trunc(second / 3600)];
    const minute = twoDigits[Math.trunc(second / 60) % 60];
    return `${lastDate}${hour}:${minute}:${twoDigits[second % 60]}${formatFraction(nanos)}Z`;
  };
}

/** Returns a point and 3, 6 or 9 digits; an empty string for 0. */
export function formatFraction(nanos: number): string {
  if (nanos === 0) return "";
  if (nanos % 1_000_000 === 0) return `.${String(1000 + nanos / 1_000_000).slice(1)}`;
  if (nanos % 1000 === 0) return `.${String(1_000_000 + nanos / 1000).slice(1)}`;
  return `.${String(1_000_000_000 + nanos).slice(1)}`;
}
