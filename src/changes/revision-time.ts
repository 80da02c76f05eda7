// The times of revisions have microseconds, which neither Date nor a float of seconds has. Until the year 2255 a number has them.

/** Returns a time in microseconds. @param seconds as PostgreSQL writes them: `1893455999.000001` */
export function microsecondsOf(seconds: string): number {
  const [whole = "", fraction = ""] = seconds.split(".");
  return Number(whole) * 1e6 + Number(fraction.padEnd(6, "0"));
}

/** Formats a time in microseconds: `2029-12-31T23:59:59.000001Z`. */
export function formatMicroseconds(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds - milliseconds * 1000).padStart(3, "0");
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}Z`;
}

/** Returns what was formatted so. */
export function parseMicroseconds(time: string): number {
  return Date.parse(`${time.slice(0, 23)}Z`) * 1000 + Number(time.slice(23, 26));
}
