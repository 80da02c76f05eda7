// Some functions take a text that has to be known beforehand, so that they cannot take long and do not fail when they run.
import { isTimeZone, timeParts } from "./condition-clock.ts";
import { type Expr, textOf } from "./expressions.ts";

/** Longer ones can take time by the square: the search through a text goes forth and back. */
const maxSearched = 250;

const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const durationPattern = /^[+-]?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/;

/**
 * @param name of the function.
 * @param argument its first one.
 * @returns what is wrong with it.
 */
export function findTextProblem(name: string, argument: Expr): string | undefined {
  const text = textOf(argument);
  if (name === "contains" && (text?.length ?? Infinity) > maxSearched) {
    return `contains takes a text in quotes of at most ${maxSearched} characters`;
  }
  if (timeParts.includes(name) && !isTimeZone(text ?? "")) {
    return `${name} takes a time zone in quotes, such as "Europe/Berlin" or "+02:00"`;
  }
  if (text === undefined) return undefined;
  if (name === "timestamp" && !(timestampPattern.test(text) && !Number.isNaN(Date.parse(text)))) {
    return 'timestamp takes a text such as "2026-01-31T12:00:00Z"';
  }
  if (name === "duration" && !durationPattern.test(text)) return 'duration takes a text such as "1h30m"';
  return undefined;
}
