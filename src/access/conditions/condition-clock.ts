// CEL's methods that return a part of a timestamp. They replace those of the evaluator, which convert through the server's own
// time zone, where some hours do not exist, and take 60 µs for any other time zone.
import { CelScalar, celMethod, objectType } from "@bufbuild/cel";
import { TimestampSchema, timestampDate } from "@bufbuild/protobuf/wkt";

const { STRING, INT } = CelScalar;

const dayMs = 86_400_000;
const quarterMs = 900_000;
const maxZones = 1_000;

/** Each function reads one part of a time whose UTC parts are the local time. */
const parts: Readonly<Record<string, (wall: Date) => number>> = {
  getFullYear: (wall) => wall.getUTCFullYear(),
  getMonth: (wall) => wall.getUTCMonth(),
  getDate: (wall) => wall.getUTCDate(),
  getDayOfMonth: (wall) => wall.getUTCDate() - 1,
  getDayOfWeek: (wall) => wall.getUTCDay(),
  getDayOfYear: (wall) => Math.floor((wall.getTime() - Date.UTC(wall.getUTCFullYear(), 0, 1)) / dayMs),
  getHours: (wall) => wall.getUTCHours(),
  getMinutes: (wall) => wall.getUTCMinutes(),
  getSeconds: (wall) => wall.getUTCSeconds(),
  getMilliseconds: (wall) => wall.getUTCMilliseconds(),
};

export const timeParts: readonly string[] = Object.keys(parts);

/** Reports whether a time zone exists: `Europe/Berlin`, `UTC` or an offset such as `+02:00`. */
export function isTimeZone(name: string): boolean {
  try {
    createFormat(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the methods of timestamps, such as `request.time.getHours("Europe/Berlin")`. The default time zone is UTC. */
export function createTimeMethods() {
  const toWall = createWallClock();
  const timestamp = objectType(TimestampSchema);
  return Object.entries(parts).flatMap(([name, read]) => [
    celMethod(name, timestamp, [], INT, function () {
      return BigInt(read(timestampDate(this.message)));
    }),
    celMethod(name, timestamp, [STRING], INT, function (zone) {
      return BigInt(read(toWall(timestampDate(this.message), zone)));
    }),
  ]);
}

/** The UTC offset of a time zone in a quarter of an hour. It is constant there: no zone ever changed its clocks within one. */
interface Offset {
  readonly quarter: number;
  readonly ms: number;
}

/** Returns a function that shifts a time so that its UTC parts are the local time of a time zone. */
function createWallClock(): (time: Date, zone: string) => Date {
  const formats = new Map<string, Intl.DateTimeFormat>();
  const offsets = new Map<string, Offset>();

  const offsetAt = (quarter: number, zone: string): number => {
    const known = offsets.get(zone);
    if (known?.quarter === quarter) return known.ms;
    // There are about 600 zones, but each can be written in many ways.
    if (formats.size > maxZones) formats.clear();
    if (offsets.size > maxZones) offsets.clear();
    const format = formats.get(zone) ?? createFormat(zone);
    formats.set(zone, format);
    const time = new Date(quarter * quarterMs);
    const ms = wallTime(format, time) - time.getTime();
    offsets.set(zone, { quarter, ms });
    return ms;
  };

  return (time, zone) => new Date(time.getTime() + offsetAt(Math.floor(time.getTime() / quarterMs), zone));
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  const [numeric, padded] = ["numeric", "2-digit"] as const;
  const time = { hour: padded, minute: padded, second: padded, hourCycle: "h23" } as const;
  return new Intl.DateTimeFormat("en-US", { timeZone, year: numeric, month: numeric, day: numeric, ...time });
}

function wallTime(format: Intl.DateTimeFormat, time: Date): number {
  const shown = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
