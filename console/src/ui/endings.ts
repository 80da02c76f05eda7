// When things usually end that are given for a while, in the zone of the person.

export type Ending = keyof typeof endings;

const minuteMs = 60_000;
const endOfWork = 18;
const friday = 5;

/** The ends that can be chosen, each from now on. */
export const endings = {
  hour: (now: Date): Date => new Date(Math.floor(now.getTime() / minuteMs) * minuteMs + 60 * minuteMs),
  tomorrow: (now: Date): Date => inDays(now, 1),
  /** The end of work on the next Friday, which can be today. */
  friday: (now: Date): Date => {
    const days = (friday - now.getDay() + 7) % 7;
    const end = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, endOfWork);
    return end > now ? end : inDays(end, 7);
  },
  month: (now: Date): Date => inDays(now, 30),
};

/** Returns the same time of the day later, also where a clock is changed meanwhile. */
const inDays = (from: Date, days: number): Date =>
  new Date(from.getFullYear(), from.getMonth(), from.getDate() + days, from.getHours(), from.getMinutes());

/** Writes a time as a field of the type `datetime-local` has it: in the zone of the person, with seconds if there are some. */
export function toLocalInput(time: Date): string {
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  const seconds = time.getSeconds() === 0 ? "" : `:${two(time.getSeconds())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}${seconds}`;
}
