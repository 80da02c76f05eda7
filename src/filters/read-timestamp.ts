const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Parses an RFC 3339 date-time (section 5.6) in the years 1 to 9999, with up to 9 fractional digits and no leap seconds.
 *
 * PostgreSQL rounds to 6 fractional digits. Our columns have 3, and all instants between two milliseconds compare equally with
 * them, so non-zero digits after the sixth are represented in the sixth digit, and comparisons stay exact.
 *
 * @returns the instant in UTC, in a form that PostgreSQL reads; undefined if the text is not valid.
 */
export function readTimestamp(text: string): string | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHours = "0", offsetMinutes = "0"] = match;
  const local = new Date(0);
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  local.setUTCHours(Number(hour), Number(minute), Number(second));
  const isReal = local.toISOString().slice(0, 19) === `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  if (!isReal || Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  const instant = new Date(local.getTime() - (sign === "-" ? -offset : offset));
  if (instant.getUTCFullYear() < 1 || instant.getUTCFullYear() > 9999) return undefined;
  return `${instant.toISOString().slice(0, 19)}.${sixDigits(fraction.padEnd(9, "0"))}Z`;
}

function sixDigits(nine: string): string {
  const isBetween = nine.slice(5) !== "0000" && nine[5] === "0";
  return isBetween ? `${nine.slice(0, 5)}1` : nine.slice(0, 6);
}
