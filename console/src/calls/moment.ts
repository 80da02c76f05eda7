// A moment in the past of an org. The URL has it as text: a time, such as `2026-03-01T12:00:00Z`, or a revision.
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { readProblem } from "./read-problem.ts";

/** How the fields of a request are called that say when; one of them is set. */
export interface MomentNames {
  readonly time: string;
  readonly revision: string;
}

/** Of questions about access. */
export const asOfNames: MomentNames = { time: "as_of_time", revision: "as_of_revision" };

/** Of a rollback. */
export const rollbackNames: MomentNames = { time: "time", revision: "revision" };

/** Returns the time that a text is; undefined for a revision. What is neither is sent as a revision, so that the service says so. */
export function timeIn(text: string): Date | undefined {
  const time = new Date(text);
  return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(time.getTime()) ? time : undefined;
}

/** Returns what a text says; nothing for now. */
export function readMoment(text: string | undefined): { readonly time?: Timestamp; readonly revision?: string } {
  if (text === undefined) return {};
  const time = timeIn(text);
  return time === undefined ? { revision: text } : { time: timestampFromDate(time) };
}

/** Returns what the service says about the moment, at its field; undefined if it says something else. */
export function momentProblem(
  error: unknown,
  text: string,
  names: MomentNames,
): Readonly<Record<string, string>> | undefined {
  const field = timeIn(text) === undefined ? names.revision : names.time;
  const { message, fields } = readProblem(error);
  const isTooOld = ConnectError.from(error).code === Code.OutOfRange;
  const sentence = fields[field] ?? (isTooOld ? message : undefined);
  return sentence === undefined ? undefined : { [field]: sentence };
}
