// Where the axes of a chart have their ticks.

/**
 * Returns the ticks of an axis from 0, at multiples of 1, 2 or 5 times a power of ten. The last one is at the greatest value or above it.
 *
 * @param most how many ticks there are at most above 0.
 */
export function valueTicks(greatest: number, most: number): number[] {
  if (greatest <= 0) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(greatest / most));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => Math.ceil(greatest / each) <= most) ?? greatest;
  // Multiples, because sums of a step such as 0.1 are not what is meant.
  return Array.from({ length: Math.ceil(greatest / step) + 1 }, (_, index) => index * step);
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A Monday, so that weeks begin with theirs. */
const monday = Date.UTC(1970, 0, 5);

const lengths = [1, 2, 3, 6, 12, 24, 48, 7 * 24, 14 * 24].map((hours) => hours * hourMs);
const months = [1, 2, 3, 6, 12, 24, 60, 120];

export interface TimeTick {
  readonly time: number;
  readonly label: string;
}

/** Returns the ticks of an axis of time, where hours, days, weeks or months begin in UTC. */
export function timeTicks(start: number, end: number, most: number): TimeTick[] {
  const length = lengths.find((each) => (end - start) / each <= most);
  if (length === undefined) return monthTicks(start, end, most);
  const first = monday + Math.ceil((start - monday) / length) * length;
  const count = Math.max(0, Math.floor((end - first) / length) + 1);
  const times = Array.from({ length: count }, (_, index) => first + index * length);
  return times.map((time) => ({ time, label: time % dayMs === 0 ? write.day(time) : write.hour(time) }));
}

function monthTicks(start: number, end: number, most: number): TimeTick[] {
  const inMonths = (end - start) / (30.5 * dayMs);
  const step = months.find((each) => inMonths / each <= most) ?? 120;
  const date = new Date(start);
  const ticks: TimeTick[] = [];
  for (let month = Math.ceil(date.getUTCMonth() / step) * step; ; month += step) {
    const time = Date.UTC(date.getUTCFullYear(), month);
    if (time > end) return ticks;
    if (time >= start) ticks.push({ time, label: month % 12 === 0 ? write.year(time) : write.month(time) });
  }
}

const writer = (options: Intl.DateTimeFormatOptions): ((time: number) => string) => {
  const format = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
  return (time) => format.format(time);
};

const write = {
  hour: writer({ hour: "2-digit", minute: "2-digit" }),
  day: writer({ day: "numeric", month: "short" }),
  month: writer({ month: "short" }),
  year: writer({ year: "numeric" }),
};
