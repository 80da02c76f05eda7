import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import { readProblem } from "../../calls/read-problem.ts";

export interface UsageProblem {
  /** What the service says about fields, by their names. */
  readonly fields: Readonly<Record<string, string>>;
  /** Whether that is all that it says. */
  readonly isAtField: boolean;
  /** The oldest day that can be asked about, such as `2026-03-01`, if the service says that. */
  readonly oldestDay: string | undefined;
}

/**
 * Reads what is wrong with a question about usage.
 *
 * @param shown the names of the fields that the form has.
 */
export function readUsageProblem(error: unknown, shown: readonly string[]): UsageProblem {
  const failure = ConnectError.from(error);
  const { message, fields } = readProblem(failure);
  const isTooOld = failure.code === Code.OutOfRange;
  const all = isTooOld ? { ...fields, from_time: message } : fields;
  const oldest = failure.findDetails(ErrorInfoSchema)[0]?.metadata["oldest_time"];
  return {
    fields: all,
    isAtField: shown.some((name) => Object.hasOwn(all, name)),
    oldestDay: isTooOld ? oldest?.slice(0, 10) : undefined,
  };
}
