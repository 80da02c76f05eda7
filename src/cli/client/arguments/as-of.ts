// The flag that asks about an earlier moment.
import { type Flag, type ParsedArguments, single } from "./flags.ts";
import { parseMoment } from "./times.ts";

export const asOfFlag: Flag = {
  name: "as-of",
  value: "REVISION|TIME",
  help: "Answer as of then: 2026-03-01T12:00:00Z, 2026-03-01 for its beginning in UTC, or 2d for two days ago",
};

/** Returns the fields with the moment that is asked about. @param now in milliseconds. */
export function readAsOf(parsed: ParsedArguments, now: number): Readonly<Record<string, string>> {
  const text = single(parsed, asOfFlag.name);
  if (text === undefined) return {};
  const { revision, time } = parseMoment(text, now, `--${asOfFlag.name}`);
  return revision === undefined ? { as_of_time: time ?? "" } : { as_of_revision: revision };
}
