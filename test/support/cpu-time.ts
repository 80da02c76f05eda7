/**
 * Returns the processor time that a function takes, in milliseconds. Unlike the time that passes, it is the same however busy the
 * machine is.
 */
export function cpuTimeOf(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
