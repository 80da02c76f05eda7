// Checks text arguments when a condition is stored: the texts that `contains` searches for and time zones must be literals, and
// literal timestamps and durations must be valid.
import { readTimestamp } from "../../filters/read-timestamp.ts";
import { isTimeZone, timeParts } from "./condition-clock.ts";
import { type Expr, textOf } from "./expressions.ts";

/** The maximum length of a searched text. The search backtracks, so a longer text can take quadratic time. */
const maxSearched = 250;

const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const durationPattern = /^[+-]?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/;

/**
 * Returns what is wrong with the first argument of a call; undefined if it is valid.
 *
 * @param name of the function.
 */
export function findTextProblem(name: string, argument: Expr): string | undefined {
  const text = textOf(argument);
  if (name === "contains" && (text?.length ?? Infinity) > maxSearched) {
    return `contains accepts only a string literal of at most ${maxSearched} characters`;
  }
  if (timeParts.includes(name) && !isTimeZone(text ?? "")) {
    return `${name} accepts only a time zone as a string literal, such as "Europe/Berlin" or "+02:00"`;
  }
  if (text === undefined) return undefined;
  if (name === "timestamp" && !(timestampPattern.test(text) && readTimestamp(text) !== undefined)) {
    return 'timestamp accepts only a string such as "2026-01-31T12:00:00Z"';
  }
  if (name === "duration" && !durationPattern.test(text)) return 'duration accepts only a string such as "1h30m"';
  return undefined;
}
