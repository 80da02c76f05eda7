/**
 * Returns a time in microseconds, which neither Date nor a float of seconds has.
 *
 * @param time such as `2030-01-31T23:59:59.000001Z`; the result has the same form, so that times compare as texts.
 */
export function microsecondsAfter(time: string, microseconds: number): string {
  const seconds = Date.parse(`${time.slice(0, 19)}Z`) / 1000;
  const total = Number(time.slice(20, 26)) + microseconds;
  const second = new Date((seconds + Math.floor(total / 1e6)) * 1000).toISOString().slice(0, 19);
  return `${second}.${String(total % 1e6).padStart(6, "0")}Z`;
}
