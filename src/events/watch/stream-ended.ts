import { ServiceError } from "../../errors/service-error.ts";

const messages = {
  SHUTDOWN: "the server stops",
  SLOW_READER: "the caller reads too slowly: too many changes wait for it",
  LOG: "the log cannot be followed further from here",
} as const;

/** Why a stream ends before its caller wants it to. */
export type StreamEnd = keyof typeof messages;

/** Returns an UNAVAILABLE error that asks the caller to resume. */
export function streamEnded(endedBy: StreamEnd): ServiceError {
  return new ServiceError(
    "STREAM_ENDED",
    `the stream has ended: ${messages[endedBy]}; call again with the last resume_revision as after_revision`,
    { metadata: { ended_by: endedBy } },
  );
}
