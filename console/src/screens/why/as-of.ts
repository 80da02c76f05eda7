// The moment that a question about access is about. The URL has it as text: a time, such as `2026-03-01T12:00:00Z`, or a revision.
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { readProblem } from "../../calls/read-problem.ts";

/** The fields of requests that say as of when. */
export type AsOfField = "as_of_time" | "as_of_revision";

interface AsOf {
  readonly asOfTime?: Timestamp;
  readonly asOfRevision?: string;
}

/** Returns the time that a text is; undefined for a revision. What is neither is sent as a revision, so that the service says so. */
export function timeIn(text: string): Date | undefined {
  const time = new Date(text);
  return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(time.getTime()) ? time : undefined;
}

/** Returns the fields of a request for a moment; none for now. */
export function readAsOf(text: string | undefined): AsOf {
  if (text === undefined) return {};
  const time = timeIn(text);
  return time === undefined ? { asOfRevision: text } : { asOfTime: timestampFromDate(time) };
}

/** Returns what the service says about the moment, at its field; undefined if it says something else. */
export function asOfProblem(error: unknown, text: string): Partial<Record<AsOfField, string>> | undefined {
  const field: AsOfField = timeIn(text) === undefined ? "as_of_revision" : "as_of_time";
  const { message, fields } = readProblem(error);
  const isTooOld = ConnectError.from(error).code === Code.OutOfRange;
  const sentence = fields[field] ?? (isTooOld ? message : undefined);
  return sentence === undefined ? undefined : { [field]: sentence };
}
